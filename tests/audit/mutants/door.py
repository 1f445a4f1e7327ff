"""Bugs at the door: rows without payment, payment too late, exact answers, things that speak or travel."""

from mutants.planting import mutant

DOOR = "unit/private/test_curator.py::"
NARROW = "unit/private/test_narrower_curators.py::"
GUARD = "unit/studio/test_studio_guard.py::"
KEEPS = "unit/test_canary.py::test_no_algorithm_keeps_the_canary"

MUTANTS = (
    mutant(
        "release-without-plan",
        "a release that no plan holds is not refused",
        "budget.accounting.plan:Reserve.draw",
        {"if self._undrawn[event] <= 0:": "if False:"},
        killer=DOOR + "test_nothing_beyond_the_reserve",
    ),
    mutant(
        "event-drawn-twice",
        "one payment serves any number of releases",
        "budget.accounting.plan:Reserve.draw",
        {"self._undrawn[event] -= 1": "pass"},
        killer=DOOR + "test_nothing_beyond_the_reserve",
    ),
    mutant(
        "plan-beyond-the-budget",
        "a plan that does not fit into the budget is opened all the same",
        "budget.accounting.plan:Reserve._take",
        {" or not opened.within(self.promise.cost):": ":"},
        killer=DOOR + "test_no_plan_beyond_the_budget",
    ),
    mutant(
        "plans-forgotten",
        "each plan is compared with the whole budget, as if it were the only one",
        "budget.accounting.plan:Reserve._take",
        {"self._opened = opened": "pass"},
        killer=DOOR + "test_no_plan_beyond_the_budget",
    ),
    mutant(
        "several-picks-for-one",
        "several picks are paid for as one",
        "private.curator:Curator.select_several",
        {"for _ in range(times):\n        self._draw(": "for _ in range(1):\n        self._draw("},
        killer=DOOR + "test_select_several_picks_different_candidates_and_pays_for_each",
    ),
    mutant(
        "never-charged",
        "the ledger is not charged",
        "private.curator:_Desk.pay",
        {"self._charge()": "pass"},
        killer=DOOR + "test_the_charge_comes_before_the_rows_and_once",
    ),
    mutant(
        "charged-after-the-rows",
        "the ledger is charged after the release: who is interrupted in between has it for nothing",
        "private.curator:Curator.reserve",
        {"self._desk.pay()": "self._desk._charged = True"},
        also={
            "private.curator:Curator.release": {
                "return mechanism.add(exact(self._engine, query), sensitivity, self._source)": (
                    "noisy = mechanism.add(exact(self._engine, query), sensitivity, self._source)\n"
                    "    self._desk._charge()\n"
                    "    return noisy"
                )
            }
        },
        killer=DOOR + "test_the_charge_comes_before_the_rows_and_once",
    ),
    mutant(
        "refused-charge-forgotten",
        "after a charge that was refused, rows are read all the same",
        "private.curator:_Desk.check",
        {"if not self._charged:": "if False:"},
        killer=DOOR + "test_a_charge_that_fails_opens_nothing",
    ),
    mutant(
        "charge-errors-swallowed",
        "an error of the ledger is swallowed and the fit goes on",
        "private.curator:_Desk.pay",
        {"self._charge()\n": "try:\n            self._charge()\n        except Exception:\n            pass\n"},
        killer=DOOR + "test_a_charge_that_fails_opens_nothing",
    ),
    mutant(
        "rows-read-at-once",
        "rows are read when the engine is made, before the charge",
        "private.engines.memory:MemoryEngine.__init__",
        {"self._blocks: list[Block] = []": "self._blocks, self._read = read(), None"},
        killer=DOOR + "test_nothing_without_a_reserve",
    ),
    mutant(
        "another-domain-accepted",
        "a query made for other bounds is answered, with a sensitivity that does not hold",
        "private.curator:Curator._same_domain",
        {"if domain != self.domain:": "if False:"},
        killer=DOOR + "test_a_query_for_another_domain_is_refused_and_costs_nothing",
    ),
    mutant(
        "exact-count-under-add-remove",
        "the exact number of rows is told although it is private",
        "private.curator:Curator.public_count",
        {"if self.neighbours is not Neighbours.REPLACE_ONE:": "if False:"},
        killer=DOOR + "test_the_number_of_rows_is_public_only_where_the_relation_says_so",
    ),
    mutant(
        "release-exact",
        "a release hands out the exact statistic",
        "private.curator:Curator.release",
        {
            (
                "return mechanism.add(exact(self._engine, query), sensitivity, self._source)"
            ): "return exact(self._engine, query)"
        },
        killer="audit/test_checks_door.py::test_no_verb_hands_out_what_is_exact",
    ),
    mutant(
        "relation-of-add-remove",
        "the door scales noise for add/remove whatever the relation",
        "private.curator:Curator._pay",
        {"query.sensitivity(self.neighbours)": "query.sensitivity(Neighbours.ADD_REMOVE)"},
        killer="audit/test_checks_door.py::test_the_door_scales_noise_to_its_own_relation",
    ),
    mutant(
        "relation-of-add-remove-in-picks",
        "private choices are made for add/remove whatever the relation",
        "private.curator:Curator.select_several",
        {"query.sensitivity(self.neighbours)": "query.sensitivity(Neighbours.ADD_REMOVE)"},
        killer="audit/test_checks_door.py::test_the_door_scales_noise_to_its_own_relation",
    ),
    mutant(
        "relation-of-add-remove-in-trees",
        "trees are grown for add/remove whatever the relation",
        "private.curator:Curator.grow",
        {"neighbours=self.neighbours": "neighbours=Neighbours.ADD_REMOVE"},
        killer="audit/test_checks_door.py::test_the_door_scales_noise_to_its_own_relation",
    ),
    mutant(
        "cover-of-another-relation",
        "max cover runs where rows are replaced, at the price of adding one",
        "private.curator:Curator.cover",
        {"if mechanism.neighbours is not self.neighbours:": "if False:"},
        killer="audit/test_checks_door.py::"
        "test_a_cover_is_refused_that_is_charged_for_another_relation[add-remove-replace-one]",
    ),
    mutant(
        "fan-out-of-another-tree",
        "a tree is grown with noise for another fan-out",
        "private.curator:Curator.grow",
        {"if mechanism.fan_out != tree.fan_out:": "if False:"},
        killer="unit/private/test_tree.py::test_the_door_refuses_what_does_not_fit",
    ),
    mutant(
        "parts-overlap",
        "the parts of a split overlap, and are paid for as if they did not",
        "private.engines.memory:MemoryEngine.split",
        {
            "parted[i].append(block.at(places))": (
                "parted[i].append(block.at(places)); parted[i - 1].append(block.at(places))"
            )
        },
        killer=NARROW + "test_parts_are_disjoint_complete_and_paid_for_once",
    ),
    mutant(
        "parts-by-value",
        "the parts of a split are drawn by value",
        "private.engines.memory:MemoryEngine.split",
        {
            "part = (source.words(len(block.outside), np.uint64) % np.uint64(parts)).astype(np.int64)": (
                "part = block.rows[0].astype(np.int64) % parts"
            )
        },
        killer=NARROW + "test_the_parts_of_rows_do_not_depend_on_values",
    ),
    mutant(
        "parts-unpaid",
        "a split is not paid for by the whole",
        "private.curator:Curator.split",
        {'self._reserve.draw(event, why="parts of the rows")': "pass"},
        killer=NARROW + "test_parts_are_disjoint_complete_and_paid_for_once",
    ),
    mutant(
        "curator-pickled",
        "a curator can be copied and pickled, rows and all",
        "private.engines.base:Sealed.__reduce_ex__",
        {
            'raise TypeError(f"{type(self).__name__} holds private rows and cannot be pickled")': (
                "return object.__reduce_ex__(self, protocol)"
            )
        },
        killer=DOOR + "test_nothing_that_holds_rows_can_be_copied_or_pickled[copy]",
    ),
    mutant(
        "repr-counts",
        "the repr of an engine tells how many rows it holds",
        "private.engines.base:Sealed.__repr__",
        {
            'return f"<{type(self).__name__}>"': (
                "return f\"<{type(self).__name__} {sum(b.shape[1] for b in getattr(self, '_blocks', []))} rows>\""
            )
        },
        killer=DOOR + "test_nothing_that_holds_rows_speaks",
    ),
    mutant(
        "progress-counts",
        "the progress bar tells how many rows are left",
        "private.curator:Curator._draw",
        {"self._desk.step(query.name)": "self._desk.step(f'{query.name} of {self._engine._count()} rows')"},
        killer=DOOR + "test_progress_counts_releases_and_never_rows",
    ),
    mutant(
        "log-counts",
        "the log tells how many rows were read",
        "private.engines.memory:MemoryEngine._load",
        {
            "self._blocks = self._read()": (
                "self._blocks = self._read()\n"
                "        __import__('logging').getLogger('covey').info('%d rows', sum(len(b.outside) for "
                "b in self._blocks))"
            )
        },
        killer=KEEPS + "[lloyd-add-remove]",
    ),
    mutant(
        "warning-quotes-a-value",
        "a warning quotes a value that lies outside the bounds, or the first one there is",
        "private.lattice:_quickly",
        {
            'with np.errstate(all="ignore"):': (
                "__import__('warnings').warn(f'first value {values.flat[0] if values.size else 0}')\n "
                '   with np.errstate(all="ignore"):'
            )
        },
        killer=KEEPS + "[lloyd-add-remove]",
    ),
    mutant(
        "error-quotes-a-value",
        "the error about a column of text quotes the text",
        "private.tables.frames:numbers_of",
        {"is not numeric: it holds text": "is not numeric: it holds {value!r}"},
        killer="unit/test_canary.py::test_no_error_holds_the_canary",
    ),
    mutant(
        "memory-error-tells-the-shape",
        "numpy's own error about memory, with the exact number of rows in it, reaches the caller",
        "fit.fit:fit",
        {'raise MemoryError("the rows do not fit into memory; what was charged stays charged") from None': "raise"},
        killer="unit/private/test_silent_tables.py::test_a_lack_of_memory_does_not_tell_the_number_of_rows",
    ),
    mutant(
        "link-opens-twice",
        "a link of the studio opens it for whoever finds it in a browser's history",
        "studio.entry:Entry.exchange",
        {"self._links[link] = True": "pass"},
        killer=GUARD + "test_a_link_opens_once_and_leaves_no_token_in_the_address",
    ),
    mutant(
        "room-without-its-cookie",
        "the path of the studio's page opens it without the cookie",
        "studio.entry:Entry.known",
        {"return right and same(head, self.room)": "return same(head, self.room)"},
        killer=GUARD + "test_a_room_without_its_cookie_is_closed_on_every_route",
    ),
    mutant(
        "cookie-of-every-path",
        "the studio's cookie is sent to whatever else this machine serves, on any port",
        "studio.entry:Entry.exchange",
        {"Path=/{self.room}/;": "Path=/;"},
        killer=GUARD + "test_a_link_opens_once_and_leaves_no_token_in_the_address",
    ),
    mutant(
        "cookie-without-the-key",
        "a server on another port that was sent the studio's cookie reads and changes what the page does",
        "studio.guard:Guard._admitted",
        {"keyless = closed and": "keyless = False and"},
        killer=GUARD + "test_who_has_the_cookie_alone_learns_and_changes_nothing",
    ),
    mutant(
        "another-port-may-ask",
        "a page of another server on this machine makes the browser ask the studio, cookie and all",
        "studio.guard:Guard._same_origin",
        {'("cross-site", "same-site")': '("cross-site",)'},
        killer=GUARD + "test_with_the_cookie_every_other_protection_holds",
    ),
    mutant(
        "text-that-ends-the-script",
        "a name within a published page may end the element that it stands in",
        "published.page.mine:escape_json",
        {'"<>&': '"&'},
        killer="unit/published/page/test_page_words.py::test_no_name_of_a_data_set_a_column_or_a_zone_becomes_markup",
    ),
)

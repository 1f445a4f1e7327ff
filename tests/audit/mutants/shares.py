"""Bugs in who counts: samples, people with several rows, zones, and the levels of the slider."""

from mutants.planting import mutant

PEOPLE = "unit/private/test_people.py::"
COUNTED = "unit/fit/test_zones_counted_up.py::"
OF_PEOPLE = "property/test_zones_of_people.py::"
CHECKS = "audit/test_checks_shares.py::"
NODE = "statistical/test_node_rate.py::"

MUTANTS = (
    mutant(
        "sample-dense",
        "a sample keeps a tenth more rows than its rate says",
        "noise.gaps:_by_floats",
        {"slope = _slope(rate)": "slope = _slope(rate) / 1.1"},
        killer="unit/noise/test_gaps.py::test_floats_are_sure_of_a_gap_only_where_it_is_right[0.01]",
    ),
    mutant(
        "sample-drawn-twice",
        "a sample can be drawn again after it was read, for one payment",
        "private.narrowed.sample:SampledTable.pieces",
        {"places, self._draw = self._draw(), None": "places = self._draw()"},
        killer="unit/fit/test_sampling.py::test_a_sample_is_drawn_once_and_not_before_it_is_read",
    ),
    mutant(
        "sample-by-value",
        "who is in a sample depends on values",
        "private.narrowed.sample:SampledTable.pieces",
        {
            "return self._table.chosen(columns, places)": (
                "rows = np.concatenate([piece() for piece in self._table.pieces(columns)], axis=1)\n"
                "    return iter([lambda: rows[:, rows[0] > 0]])"
            )
        },
        killer=CHECKS + "test_who_is_in_a_sample_does_not_depend_on_values",
    ),
    mutant(
        "sample-of-the-first-rows",
        "a sample is a run of consecutive rows, which share one coin: nothing is amplified",
        "noise.gaps:kept",
        {"gaps(many, rate=rate, source=source) + 1": "np.ones(many, dtype=np.int64)"},
        killer=CHECKS + "test_rows_next_to_one_another_have_coins_of_their_own",
    ),
    mutant(
        "sample-size-from-exact-n",
        "the rate of a sample comes from the exact number of rows",
        "fit.sample:draw_sample",
        {
            "n = max(SMALLEST_SIZE, int(counter.release(Count(domain), noise)[0]))": (
                "counter.release(Count(domain), noise)\n        n = table.rows()"
            ),
        },
        killer=CHECKS + "test_the_rate_of_a_sample_follows_from_a_noisy_number",
    ),
    mutant(
        "sample-amplified-beyond-the-rate",
        "the algorithm may spend on a sample what a smaller rate would allow",
        "fit.sample:draw_sample",
        {"inner = reserve.on_sample(rate)": "inner = reserve.on_sample(rate / 2)"},
        killer=CHECKS + "test_what_is_spent_on_a_sample_amplifies_to_what_was_named",
    ),
    mutant(
        "fixed-sample-amplified-beyond-its-rate",
        "a fixed sample where rows are replaced is amplified by a smaller rate than size/number",
        "fit.sample:_exact_size",
        {"reserve.on_sample(Fraction(size, n))": "reserve.on_sample(Fraction(size, n + size))"},
        killer=CHECKS + "test_what_is_spent_on_a_sample_amplifies_to_what_was_named",
    ),
    mutant(
        "poisson-under-replace-one",
        "rows are sampled by coins where they are replaced, for which the amplification is not proven",
        "fit.sample:draw_sample",
        {"if reserve.promise.relation is Neighbours.REPLACE_ONE:": "if False:"},
        killer=CHECKS + "test_what_is_spent_on_a_sample_amplifies_to_what_was_named",
    ),
    mutant(
        "counted-before-the-charge",
        "where rows are replaced, a sample counts them before anything is charged",
        "fit.sample:draw_sample",
        {"session.charge()": "pass"},
        killer="unit/fit/test_sampling.py::test_the_public_number_of_rows_is_read_after_the_charge",
    ),
    mutant(
        "people-paid-for-as-rows",
        "the choice of a cap, which counts people, is paid for by a promise for rows",
        "private.curator:Curator.__init__",
        {"if engine.unit != reserve.promise.unit:": "if False:"},
        killer="unit/private/test_curator.py::test_the_promise_that_pays_is_for_the_unit_of_the_statistics",
    ),
    mutant(
        "sample-by-the-quicker-attempt",
        "rows are sampled on a cluster that takes the quicker of two attempts, whose coins then decide",
        "private.tables.spark:speculates",
        {'.lower() == "true"': ".lower() is None"},
        killer="unit/fit/test_sampling.py::test_a_cluster_that_takes_the_quicker_of_two_attempts_is_known",
    ),
    mutant(
        "streamed-parts-overlap",
        "the parts of rows that are streamed from files overlap",
        "private.engines.rows:RowEngine.split",
        {"% np.uint64(parts) == np.uint64(part)": "% np.uint64(parts) <= np.uint64(part)"},
        killer=CHECKS + "test_parts_of_streamed_rows_are_disjoint_and_stay_the_same",
    ),
    mutant(
        "streamed-parts-redrawn",
        "every pass over a file draws its parts anew: in the end a row has been in all of them",
        "private.engines.rows:RowEngine.split",
        {'keyed_words(key, unit, len(block.outside), purpose="part")': ("source.words(len(block.outside), np.uint64)")},
        killer=CHECKS + "test_parts_of_streamed_rows_are_disjoint_and_stay_the_same",
    ),
    mutant(
        "fixed-sample-biased",
        "the words of the last, incomplete round of remainders are not thrown away",
        "noise.gaps:choose",
        {"if 2**64 % of:": "if False:"},
        killer="unit/noise/test_gaps.py::test_words_beyond_the_last_whole_round_are_thrown_away",
    ),
    mutant(
        "cap-not-enforced",
        "all rows of a person count, whatever the cap",
        "private.narrowed.pairs:Ranked.smallest",
        {"stay = order[within < most]": "stay = order[within >= 0]"},
        killer=PEOPLE + "test_every_row_of_a_person_has_the_same_chance",
    ),
    mutant(
        "cap-one-too-many",
        "one row more than the cap counts",
        "private.narrowed.pairs:Ranked.smallest",
        {"stay = order[within < most]": "stay = order[within <= most]"},
        killer=PEOPLE + "test_every_row_of_a_person_has_the_same_chance",
    ),
    mutant(
        "cap-of-shares-that-overlap",
        "pieces of a table are cut into shares without being in their order: a person is capped in several of them",
        "private.narrowed.cap:read_groups",
        {'order = np.argsort(first_byte(low), kind="stable")': "order = np.arange(len(low))"},
        killer=PEOPLE + "test_who_counts_is_the_definition_whatever_the_order_and_the_passes",
    ),
    mutant(
        "cap-by-row-order",
        "a person's first rows count, in the order of the table",
        "private.narrowed.cap:read_groups",
        {"names.ranks(low, high, row, none)": "np.arange(len(low), dtype=np.uint64)"},
        killer=CHECKS + "test_which_rows_of_a_person_count_is_decided_by_a_key",
    ),
    mutant(
        "cap-of-everybody",
        "people are not told apart by one half of their name: strangers share a cap, and move one another's rows",
        "private.narrowed.names:Names.people",
        {"numbers = ids.to_numpy": "ids = pc.bit_wise_and(ids, 1)\n    numbers = ids.to_numpy"},
        killer=CHECKS + "test_nobody_elses_rows_move_when_a_person_joins",
    ),
    mutant(
        "rows-without-an-id-count",
        "rows without an id share a bucket, in which one displaces another's",
        "private.tables.ids:has_id",
        {"return np.asarray(there": "return np.ones(len(ids), dtype=np.bool_)\n    return np.asarray(there"},
        also={
            "private.narrowed.names:Names.people": {
                "if not pa.types.is_integer(ids.type):": (
                    "ids = ids.fill_null(0 if pa.types.is_integer(ids.type) else b'')\n"
                    "    if not pa.types.is_integer(ids.type):"
                )
            }
        },
        killer=PEOPLE + "test_rows_without_an_id_never_count",
    ),
    mutant(
        "ids-hashed-like-keys",
        "the name of somebody called like a purpose of the key is that key",
        "private.narrowed.names:Names._texts",
        {", person=TEXT)": ', person=b"covey purpose")'},
        killer=PEOPLE + "test_no_id_is_hashed_as_anything_else",
    ),
    mutant(
        "epsilon-for-each-row",
        "every row of a person may cost all of epsilon",
        "budget.accounting.groups:row_cost",
        {"each = person.epsilon / rows": "each = person.epsilon"},
        killer=CHECKS + "test_rows_of_a_person_cost_no_more_than_the_person",
    ),
    mutant(
        "delta-divided-like-epsilon",
        "delta is divided by the rows of a person, which group privacy does not allow",
        "budget.accounting.groups:row_cost",
        {
            (
                "delta = Fraction(int((steps * (1 - SLACK)).to_integral_value(rounding=ROUND_FLOOR)), DELTA_STEPS)"
            ): "delta = person.delta / rows"
        },
        killer=CHECKS + "test_rows_of_a_person_cost_no_more_than_the_person",
    ),
    mutant(
        "cap-chosen-exactly",
        "the cap is chosen by the exact numbers of people",
        "fit.cap:_noisy_people",
        {"return curator.release(query, noise)": "curator.release(query, noise); return curator._engine.total(query)"},
        killer=CHECKS + "test_the_choice_of_a_cap_is_noisy",
    ),
    mutant(
        "cap-chosen-for-nothing",
        "the choice of the cap is not taken off epsilon",
        "fit.cap:cap",
        {"choosing = whole.part(": "choosing = Reserve(whole.promise).part("},
        killer=PEOPLE + "test_the_choice_of_m_is_noisy_and_paid_for",
    ),
    mutant(
        "person-under-replace-one",
        "people with several rows are accepted where rows are replaced, for which there is no proof",
        "budget.accounting.promise:Kind.__post_init__",
        {"if self.relation is Neighbours.REPLACE_ONE and self.unit is not None:": "if False:"},
        killer=CHECKS + "test_people_and_zones_are_refused_where_rows_are_replaced",
    ),
    mutant(
        "zone-dense",
        "a zone keeps a tenth more of its rows than its epsilon allows",
        "fit.zones:keeping",
        {"return Probability(bounds).leading(64)": "return min(ALWAYS, Probability(bounds).leading(64) * 11 // 10)"},
        killer=CHECKS + "test_a_zone_keeps_as_many_rows_as_its_epsilon_allows",
    ),
    mutant(
        "zone-rate-linear",
        "a zone keeps the share ε_zone/ε of its rows: too many",
        "fit.zones:keeping",
        {"return Probability(bounds).leading(64)": "return int(ALWAYS * zone / whole)"},
        killer=CHECKS + "test_a_zone_keeps_as_many_rows_as_its_epsilon_allows",
    ),
    mutant(
        "zones-not-thinned",
        "rows in a zone are all kept",
        "private.narrowed.zones:Coins.keep",
        {"words <= last[numbers]": "words <= np.uint64(2**64 - 1)"},
        killer=CHECKS + "test_rows_of_a_zone_are_kept_at_its_rate",
    ),
    mutant(
        "node-sends-all-of-a-zone",
        "a node throws its coins and then sends every row of its zones",
        "fit.node:_throw",
        {"(words <= last[zones[-1]])": "(words <= last[0])"},
        killer=NODE + "test_the_rate_is_that_of_the_strictest_zone_and_this_test_can_tell[0-1-True]",
    ),
    mutant(
        "node-sends-rows-from-nowhere",
        "a node sends rows that have no place on the map, wherever they were",
        "fit.node:_throw",
        {" & ~block.outside)": ")"},
        killer="unit/cli/test_cli_thin.py::test_whole_records_leave_to_the_byte_and_rows_of_a_zone_by_coins",
    ),
    mutant(
        "node-sends-what-a-quote-took-in",
        "a row with an open quote is sent together with the rows of a zone that stand in its last cell",
        "private.tables.csv.reader:CsvPart.some",
        {"""if b'"' in block and not csv_records.is_whole(block, comma):""": "if False:"},
        killer="unit/cli/test_cli_thin.py::test_a_row_that_may_carry_others_away_in_a_cell_is_refused",
    ),
    mutant(
        "node-sends-categories",
        "a table that a node thinned still lists the categories of the rows that stay",
        "private.tables.kept:_some_of_pandas",
        {"""if str(kind) == "category":""": "if False:"},
        killer="unit/fit/test_zones.py::test_a_thinned_table_holds_no_category_of_the_rows_that_stay",
    ),
    mutant(
        "node-releases-add-up",
        "what a node's rows are promised is said to grow in proportion to the releases, which share one throw of coins",
        "fit.node:Share.promised",
        {"math.log1p(rate * math.expm1(epsilon)) if": "epsilon * math.log1p(rate * math.expm1(1)) if"},
        killer=NODE + "test_releases_from_one_upload_add_up_before_the_coins_are_counted",
    ),
    mutant(
        "zones-redrawn",
        "every pass draws the coins of a zone anew: in the end all of its rows have counted",
        "private.narrowed.zones:ZonedTable._kept",
        {"keyed_words(self._key, number,": "keyed_words(__import__('os').urandom(len(self._key)), number,"},
        killer=CHECKS + "test_rows_of_a_zone_are_kept_at_its_rate",
    ),
    mutant(
        "zone-weighted-before-noise",
        "a row in a zone counts 1/q times before the noise, which hides one",
        "queries.zoned:InBlocks.tally",
        {"mine = rows if len(there) == 1 else": "rows, zone = (x.repeat(8, axis=-1) for x in (rows, zone)); mine ="},
        killer=CHECKS + "test_a_row_in_a_zone_is_one_row_until_it_is_noised",
    ),
    mutant(
        "zone-cells-weighted-before-noise",
        "a row in a zone counts 1/q times in its cell before the noise, which hides one",
        "queries.zoned:ZonedCells.accumulate",
        {"count_into(out, self.keys.take(pair))": "count_into(out, np.repeat(self.keys.take(pair), 8))"},
        killer=CHECKS + "test_a_row_in_a_zone_is_one_row_until_it_is_noised",
    ),
    mutant(
        "zone-leaves-weighted-before-noise",
        "a row in a zone counts 1/q times in its leaf before the noise, which hides one",
        "queries.zoned:ZonedLeaves.accumulate",
        {'take(key, mode="clip") == pair], 1)': 'take(key, mode="clip") == pair], 8)'},
        killer=CHECKS + "test_a_row_in_a_zone_is_one_row_until_it_is_noised",
    ),
    mutant(
        "zone-images-weighted-before-noise",
        "the image of a row in a zone counts 1/q times before the noise, which hides one",
        "queries.zoned:OfImages.accumulate",
        {"self.projection.apply(rows)": "np.repeat(self.projection.apply(rows), 8, axis=1)"},
        killer=CHECKS + "test_a_row_in_a_zone_is_one_row_until_it_is_noised",
    ),
    mutant(
        "zone-sums-not-counted-up",
        "beyond four columns the sums of a zone's kept rows count as they are, beside numbers of all rows",
        "algorithms.zoned:sum_residuals",
        {"table * factors[:, :, None]": "table * (factors > 0)[:, :, None]"},
        killer=COUNTED + "test_in_many_columns_auto_counts_all_rows_of_zones[None]",
    ),
    mutant(
        "zone-sums-without-a-length",
        "noise decides that rows of all zones have no mean square, and a fit ends in an error after its charge",
        "algorithms.auto.high:from_subspace",
        {"beside, LEAST_SCATTER * radius**2)": "beside)"},
        killer=COUNTED + "test_in_many_columns_a_crowded_zone_in_the_middle_ends_in_no_error",
        dies_of=("ParameterError",),
    ),
    mutant(
        "zone-of-another-rate",
        "the noisy rows of a zone are divided by the rate of another",
        "post.zones:Keys.of",
        {"rates[zone]": "rates[::-1][zone]"},
        killer=CHECKS + "test_kept_rows_are_divided_by_the_rate_of_their_own_zone",
    ),
    mutant(
        "zone-cells-of-another-rate",
        "the noisy rows of a cell in a zone are divided by the rate of another zone",
        "algorithms.zoned:count_cells",
        {"rates[query.zone_of]": "rates[::-1][query.zone_of]"},
        killer=CHECKS + "test_kept_rows_are_divided_by_the_rate_of_their_own_zone",
    ),
    mutant(
        "people-divided-by-their-rows-zone",
        "people, who are kept at the rate of their strictest zone, are counted up by where each row is",
        "algorithms.zoned:_by_zone",
        {"ByZone(query, zones.regions) if by_row else": "ByZone(query, zones.regions) if True else"},
        killer=CHECKS + "test_people_are_counted_up_by_their_own_zone_and_not_by_where_their_rows_are",
    ),
    mutant(
        "people-weighted-before-noise",
        "a row of somebody with a row in a zone counts 1/q times before the noise, which hides one",
        "private.engines.rows:add_block",
        {
            "query.tally(block.zone, block.rows, out)": (
                "query.tally(np.repeat(block.zone, 8), np.repeat(block.rows, 8, axis=1), out)"
            )
        },
        killer=OF_PEOPLE + "test_a_person_more_changes_one_block_and_no_more_than_their_rows_may[cells]",
    ),
    mutant(
        "people-kept-by-one-of-their-rows",
        "a person is kept at the rate of the loosest zone that they have a row in",
        "private.narrowed.cap:Strictest.add",
        {"ascending(zone.astype(np.uint64), high, low)": "ascending(~zone.astype(np.uint64), high, low)"},
        killer=OF_PEOPLE + "test_the_coin_is_the_persons_own_and_of_the_rate_of_their_zone",
    ),
    mutant(
        "people-of-other-peoples-zones",
        "after the coins rows have the zones of those who stood in their places before",
        "private.narrowed.cap:capped",
        {"zone[stay])": "zone[: np.count_nonzero(stay)])"},
        killer=OF_PEOPLE + "test_the_coin_is_the_persons_own_and_of_the_rate_of_their_zone",
    ),
    mutant(
        "moved-rows-in-zones",
        "rows that were moved to the middles of cells are counted up by the zone that they were moved to",
        "private.curator:Curator._narrowed",
        {"narrower.zones = engine, domain, None": "narrower.zones = engine, domain, self.zones"},
        killer=CHECKS + "test_rows_that_were_moved_have_no_zones",
    ),
    mutant(
        "zone-under-replace-one",
        "zones are accepted where rows are replaced, for which there is no proof",
        "fit.zones:read_zones",
        {"if neighbours is not Neighbours.ADD_REMOVE:": "if False:"},
        killer=CHECKS + "test_people_and_zones_are_refused_where_rows_are_replaced",
    ),
    mutant(
        "zone-looser-than-the-rest",
        "a zone with a larger epsilon than all other rows is accepted",
        "fit.zones:read_zones",
        {
            "if float_at_least(area.epsilon) >= float_at_least(epsilon):": (
                "if area.epsilon >= epsilon:\n            rates.append(ALWAYS)\n            continue\n        if False:"
            )
        },
        killer=CHECKS + "test_a_zone_is_never_looser_than_the_rest",
    ),
    mutant(
        "zone-wound-twice",
        "a ring that winds around itself is taken: its middle is outside by crossings, and its rows are unprotected",
        "geo.rings:check_rings",
        {"same & (crosses | touches)": "same & (crosses & touches)"},
        killer="unit/geo/test_rings.py::test_a_ring_that_meets_itself_is_refused[wound twice]",
    ),
    mutant(
        "zone-outside-the-bounds",
        "a zone that no row can be in is taken, and its epsilon printed",
        "fit.zones:_check_told",
        {"if next(rows) is None:": "if next(rows) is None and False:"},
        killer="unit/fit/test_zones_witness.py::test_a_zone_whose_epsilon_nobody_gets_is_refused_by_name[outside]",
    ),
    mutant(
        "zone-under-a-stricter-one",
        "a zone that stricter ones cover is taken: its rows get another epsilon than the one that is printed",
        "fit.witness:find_rows",
        {"points[seen == number]": "points[seen > 0]"},
        killer="unit/fit/test_zones_witness.py::test_a_zone_whose_epsilon_nobody_gets_is_refused_by_name[twice]",
    ),
    mutant(
        "merge-drops-a-choice",
        "a merged certificate leaves out how the level of a part was chosen, unless the choice is not covered",
        "published.certificate:Certificate._zones_and_choice",
        {"in part._own_words():": "in (each for each in part._own_words() if UNCOVERED in each):"},
        killer="unit/published/test_coreset_merge.py::test_a_merge_keeps_what_each_part_says_of_its_zones_and_its_level",
    ),
    mutant(
        "level-noise-reused",
        "a more private level adds nothing: it is the less private one under another name",
        "noise.chain:add_more",
        {
            "flat[moved] += discrete_laplace(moved.size, inverse_scale=wide, source=source)": (
                "discrete_laplace(moved.size, inverse_scale=wide, source=source)"
            )
        },
        killer=CHECKS + "test_levels_are_a_chain_and_each_has_its_own_scale",
    ),
    mutant(
        "levels-independent",
        "every level has fresh noise on the exact counts: together they cost their sum, not the least private",
        "noise.chain:ChainedLaplace.add_chain",
        {
            "levels.append(add_more(levels[-1], wide=wide, narrow=narrow, source=source))": (
                "levels.append(numbers + discrete_laplace(numbers.shape, inverse_scale=wide, source=source))"
            )
        },
        killer=CHECKS + "test_levels_are_a_chain_and_each_has_its_own_scale",
    ),
    mutant(
        "levels-of-one-noise",
        "all levels scale one draw of noise: two of them together give the exact counts",
        "noise.chain:ChainedLaplace.add_chain",
        {
            "levels.append(add_more(levels[-1], wide=wide, narrow=narrow, source=source))": (
                "levels.append(numbers + (levels[-1] - numbers) * 2)"
            )
        },
        killer=CHECKS + "test_levels_are_a_chain_and_each_has_its_own_scale",
    ),
    mutant(
        "in-advance-though-seen",
        "a level is said to be chosen in advance after another release of its data was seen",
        "studio.prices:how_chosen",
        {"if charges > 1 else None": "if charges > 99 else None"},
        killer="unit/studio/test_studio_rehearsal.py"
        "::test_in_advance_is_said_only_where_nothing_of_the_data_set_was_seen_before[a look]",
    ),
    mutant(
        "others-not-added",
        "a level that was chosen after other releases is certified as if there were none",
        "published.levels.words:choice",
        {"float_at_least(exactly(epsilon) + others)": "float_at_least(exactly(epsilon))"},
        killer="unit/fit/test_levels.py::test_after_other_releases_the_certificate_states_the_sum_of_all",
    ),
    mutant(
        "slider-charged-for-the-first",
        "a look at all levels is charged as the most private one",
        "noise.chain:ChainedLaplace.event",
        {"Pure(self.epsilons[-1])": "Pure(self.epsilons[0])"},
        killer="unit/noise/test_chain.py::test_levels_come_most_private_first_and_cost_the_least_private",
    ),
    mutant(
        "levels-of-people-priced-as-rows",
        "the slider's noise for a person with m rows is that for a single row",
        "fit.slider:_run",
        {
            "reserve.for_rows(cap=person.rows), [epsilon / person.rows for epsilon in each]": (
                "Reserve(Promise.of(each[-1])), each"
            )
        },
        killer="unit/fit/test_levels_people.py::test_noise_is_for_m_rows",
    ),
    mutant(
        "levels-of-people-uncapped",
        "the slider counts all rows of a person, with noise for m of them",
        "fit.slider:_run",
        {"kept = kept.capped(domain, person.column, most=person.rows, key=new_key(session.source))": "pass"},
        killer="unit/fit/test_levels_people.py::test_a_person_with_many_rows_moves_every_level_by_at_most_m_rows",
    ),
    mutant(
        "level-chosen-for-nothing",
        "a level that was chosen by looking at the slider promises its own epsilon",
        "published.levels.words:choice",
        {"own.epsilon if chosen == ALONE else whole.epsilon": "own.epsilon"},
        killer=CHECKS + "test_a_level_chosen_on_the_slider_promises_the_least_private",
    ),
    mutant(
        "level-told-as-if-alone",
        "whoever sees several levels is told the factor of the one in view, as if there were no others",
        "published.levels.words:meaning",
        {"len(found.levels) == 1": "True"},
        killer="unit/fit/test_levels_extremes.py::test_whoever_sees_several_levels_is_told_what_all_of_them_cost",
    ),
)

"""Bugs in what is charged: amounts, ledgers, keys, composition, amplification."""

from mutants.planting import mutant

CHARGES = "unit/budget/test_ledger.py::TestCharges::"
RELEASES = "unit/budget/test_ledger.py::TestReleases::"
ACCOUNT = "unit/budget/test_accountant.py::"
AMPLIFY = "unit/budget/test_amplify.py::"
MERGE = "unit/published/test_coreset_merge.py::"
PROMISE = "unit/budget/test_promise.py::"
LEAVES = "unit/test_what_leaves.py::"

MUTANTS = (
    mutant(
        "charges-rounded-down",
        "charges are cut off to whole units by int(), not rounded up",
        "budget.accounting.amounts:units_up",
        {"-(-value.numerator * units // value.denominator)": "int(value * units)"},
        killer=CHARGES + "test_charges_are_rounded_up_and_totals_down",
    ),
    mutant(
        "totals-rounded-up",
        "the total of a data set is rounded up",
        "budget.accounting.amounts:units_down",
        {"value.numerator * units // value.denominator": "-(-value.numerator * units // value.denominator)"},
        killer=CHARGES + "test_charges_are_rounded_up_and_totals_down",
    ),
    mutant(
        "certificate-rounded-down",
        "a certificate says the nearest float, which may be less than was spent",
        "events:float_at_least",
        {"while exactly(number) < exact:": "while False:"},
        killer="unit/fit/test_certificates.py::test_no_certificate_says_less_than_was_spent",
    ),
    mutant(
        "total-ignored",
        "a charge beyond the total is accepted",
        "budget.ledger.rules:affordable",
        {"spent[0] + units[0] > total[0] or spent[1] + units[1] > total[1]": "False"},
        killer=CHARGES + "test_ten_charges_of_a_tenth_fill_one_exactly",
    ),
    mutant(
        "delta-unlimited",
        "the ledger limits epsilon only",
        "budget.ledger.rules:affordable",
        {"spent[0] + units[0] > total[0] or spent[1] + units[1] > total[1]": "spent[0] + units[0] > total[0]"},
        killer=CHARGES + "test_delta_is_a_limit_of_its_own",
    ),
    mutant(
        "only-the-last-charge",
        "what is asked for is compared with the total, without what was spent",
        "budget.ledger.rules:affordable",
        {"spent[0] + units[0] > total[0]": "units[0] > total[0]"},
        killer=CHARGES + "test_ten_charges_of_a_tenth_fill_one_exactly",
    ),
    mutant(
        "charge-not-committed",
        "a charge is written but never committed",
        "budget.ledger.store:Store.transaction",
        {"if write:\n": "if fresh:\n"},
        killer=CHARGES + "test_ten_charges_of_a_tenth_fill_one_exactly",
        dies_of=("LedgerError",),
    ),
    mutant(
        "transaction-not-immediate",
        "a charge looks at the ledger before it holds it: two at a time may both find room",
        "budget.ledger.store:Store.transaction",
        {'"BEGIN IMMEDIATE" if write else "BEGIN"': '"BEGIN"'},
        killer="unit/budget/test_ledger.py::TestFiles::test_a_charge_holds_the_ledger_from_its_first_look_at_it",
    ),
    mutant(
        "commits-not-durable",
        "a commit does not wait for the disk",
        "budget.ledger.store:_connect",
        {"PRAGMA synchronous=EXTRA": "PRAGMA synchronous=OFF"},
        killer="unit/budget/test_ledger.py::TestFiles::test_the_settings_that_make_it_durable_are_in_force",
    ),
    mutant(
        "memory-ledger-forked",
        "a forked child spends a copy of a budget in memory",
        "budget.ledger.store:Store._connected",
        {"if os.getpid() != self._process:": "if False:"},
        killer="unit/budget/test_ledger.py::TestMemory::test_a_forked_child_cannot_spend_a_copy_of_the_budget",
    ),
    mutant(
        "ledger-copied",
        "a copy of a ledger in memory has a budget of its own",
        "budget.ledger.ledger:Ledger.__deepcopy__",
        {"return self": "return Ledger.memory(dataset='trips', epsilon=1)"},
        killer="unit/budget/test_ledger.py::TestReports::test_a_copy_spends_from_the_same_budget",
    ),
    mutant(
        "retry-uncharged",
        "a key whose charge was never finished is not charged again, although rows were read twice",
        "budget.ledger.ledger:Ledger.charge",
        {
            "rules.affordable(state, dataset, price.units)": (
                "old = next((e for e in state.entries if hashed is not None and e.kind == 'charge' and "
                "e.key == hashed), None)\n"
                "        if old is not None:\n"
                "            cost = cost_of(price.units)\n"
                "            return Receipt(old.receipt, state.ledger, old.sequence, old.hash, dataset, cost)\n"
                "        rules.affordable(state, dataset, price.units)"
            )
        },
        killer=RELEASES + "test_an_unfinished_key_is_charged_again",
    ),
    mutant(
        "key-for-other-parameters",
        "a key hands out its stored release whatever the parameters",
        "budget.ledger.rules:bound_key",
        {"state.bound.get(hashed, parameters_hash(parameters)) != parameters_hash(parameters)": "False"},
        killer=RELEASES + "test_a_key_stands_for_one_set_of_parameters_even_before_it_is_finished",
    ),
    mutant(
        "key-of-any-data-set",
        "a key of one data set hands out its release for another",
        "budget.ledger.rules:bound_key",
        {"state.ledger, dataset, text(": "state.ledger, text("},
        killer=RELEASES + "test_a_key_belongs_to_its_data_set",
        dies_of=("LedgerError",),
    ),
    mutant(
        "second-release-shown",
        "of two fits that raced for one key, both releases are shown",
        "budget.ledger.ledger:Ledger.finish",
        {"document = rules.document(connection, release, where=where)": "pass"},
        killer=RELEASES + "test_of_two_that_raced_for_a_key_the_first_to_finish_is_shown_by_both",
    ),
    mutant(
        "chain-unchecked",
        "entries of the ledger can be changed unnoticed",
        "budget.ledger.chain:replay",
        {"or entry.hash != digest(FORMAT, *entry[:-1])": ""},
        killer="unit/budget/test_ledger_tamper.py::"
        "test_changes_by_sql_are_noticed_and_named[statements0-entry 4 was changed]",
    ),
    mutant(
        "old-copy-accepted",
        "a ledger behind its anchor is accepted: an old copy has its budget back",
        "budget.ledger.anchor:check",
        {"if anchor.sequence > last:": "if anchor.sequence > last:\n        return\n    if False:"},
        killer="unit/budget/test_ledger_tamper.py::TestAnchor::test_a_restored_old_copy_is_refused",
    ),
    mutant(
        "pure-events-maximum",
        "equal pure events are counted once",
        "budget.accounting.accountant:_tally",
        {"pairs[_exact(event.epsilon), Fraction(0)] += 1": "pairs[_exact(event.epsilon), Fraction(0)] = 1"},
        killer=ACCOUNT + "test_pure_events_add_up_exactly_and_need_no_delta",
    ),
    mutant(
        "plan-delta-free",
        "the deltas of plans do not add up",
        "budget.accounting.accountant:Cost.__add__",
        {"self.delta + other.delta": "max(self.delta, other.delta)"},
        killer="unit/budget/test_plan.py::test_deltas_of_plans_add_up_too",
    ),
    mutant(
        "unknown-event-free",
        "an event of an unknown kind costs nothing",
        "budget.accounting.accountant:_tally",
        {
            (
                'raise ParameterError("events", f"{type(event).__name__} is not a kind of event the accountant knows")'
            ): "continue"
        },
        killer=ACCOUNT + "test_unknown_events_are_refused_and_never_free",
    ),
    mutant(
        "amplified-rounded-down",
        "the cost on a sample is rounded down",
        "budget.accounting.amplify:amplified",
        {"* (1 + SLACK)": "* (1 - SLACK)"},
        killer="unit/budget/test_amplify.py::test_amplified_is_rounded_up_and_the_inner_cost_down",
    ),
    mutant(
        "inner-cost-linear",
        "what may be spent on a sample is taken to be epsilon/rate, which is more than amplification gives",
        "budget.accounting.amplify:inner_cost",
        {
            "delta = min(whole.delta / rate": (
                "steps = int(whole.epsilon / rate * EPSILON_UNITS); delta = min(whole.delta / rate"
            )
        },
        killer="audit/test_checks_budget.py::test_what_may_be_spent_on_a_sample_amplifies_to_the_whole",
    ),
    mutant(
        "inner-delta-kept-whole",
        "delta on a sample is divided by the rate twice",
        "budget.accounting.amplify:inner_cost",
        {
            "min(whole.delta / rate, max(MOST_DELTA, whole.delta))": (
                "min(whole.delta / rate**2, max(MOST_DELTA, whole.delta))"
            )
        },
        killer="audit/test_checks_budget.py::test_what_may_be_spent_on_a_sample_amplifies_to_the_whole",
    ),
    mutant(
        "merge-takes-the-largest",
        "two coresets of perhaps the same people promise the larger epsilon, not the sum",
        "published.coreset.merge:joint_certificate",
        {"Disjoint.declared(ours, theirs, unit=a.unit) if disjoint else None": "Disjoint(a.unit)"},
        killer=MERGE + "test_plus_never_assumes_that_people_are_apart",
    ),
    mutant(
        "merge-believes-unnamed",
        "data sets without a name count as different ones",
        "budget.accounting.promise:Disjoint.declared",
        {"None if None in here | there or here & there else cls(unit)": "cls(unit)"},
        killer=MERGE + "test_the_largest_counts_only_for_named_different_and_disjoint_sets",
    ),
    mutant(
        "merge-forgets-the-seed",
        "a merged coreset does not say that a part was seeded",
        "published.coreset.merge:joint_certificate",
        {"seeded=a.seeded or b.seeded": "seeded=a.seeded and b.seeded"},
        killer=MERGE + "test_a_seeded_part_makes_the_whole_seeded",
    ),
    mutant(
        "merge-in-floats",
        "the sum of two promises is rounded to the nearest float",
        "published.coreset.merge:joint_certificate",
        {"float_at_least(promise.epsilon)": "float(promise.epsilon) * (1 - 2**-52)"},
        killer=MERGE + "test_sums_are_exact_and_never_rounded_down",
    ),
    mutant(
        "group-tail-left-out",
        "the chance that more of a group are in the sample than a promise allows for is halved",
        "theory.group:_tails",
        {"tails[j - 1] = total": "tails[j - 1] = total / 2"},
        killer="unit/theory/test_group.py::test_no_bound_is_ever_violated_by_a_mechanism_that_loses_all_it_may[5]",
    ),
    mutant(
        "types-added",
        "promises of different types are added: an epsilon for rows to one for people",
        "budget.accounting.promise:Promise._same",
        {"if self.kind != other.kind:": "if False:"},
        killer=PROMISE + "test_promises_of_different_types_do_not_add_up",
    ),
    mutant(
        "type-of-a-data-set-ignored",
        "a ledger charges a promise of another type as it is",
        "budget.ledger.rules:priced",
        {"meant = promise.to(kind)": "meant = promise", "if promise.kind != kind and not converting:": "if False:"},
        killer=PROMISE + "test_a_ledger_of_people_refuses_a_fit_of_rows",
    ),
    mutant(
        "replace-one-counts-as-add-remove",
        "a promise for replacing a row is taken for one about adding or removing it",
        "budget.accounting.promise:Promise.to",
        {"if self.relation is Neighbours.REPLACE_ONE:": "if False:"},
        killer=PROMISE + "test_a_ledger_of_add_remove_refuses_a_fit_of_replace_one",
    ),
    mutant(
        "rows-count-as-people",
        "a promise for each row is taken for one for people, of whom no row was capped",
        "budget.accounting.promise:Promise.to",
        {"if self.unit is None and kind.unit is not None:": "if False:"},
        killer=PROMISE + "test_what_is_not_proven_is_refused",
    ),
    mutant(
        "conversion-at-half-price",
        "a promise for people costs a ledger of rows no more than it says",
        "budget.accounting.promise:Promise.to",
        {"(self.unit is not None) + (": "("},
        killer=PROMISE + "test_what_is_proven_converts_at_the_price_of_its_chain",
    ),
    mutant(
        "converted-delta-doubled",
        "a conversion doubles delta, which the second step needs e^epsilon times",
        "budget.accounting.groups:group_cost",
        {"if each.delta == 0 or each.epsilon == 0:": "if True:"},
        killer=PROMISE + "test_what_is_proven_converts_at_the_price_of_its_chain",
    ),
    mutant(
        "disjoint-rows-for-people",
        "that two sets share no row counts as that they share no person",
        "budget.accounting.promise:Promise.largest",
        {"if witness.unit != self.unit:": "if False:"},
        killer=PROMISE + "test_a_maximum_needs_a_witness_about_the_same_unit",
    ),
    mutant(
        "handed-on-and-kept",
        "what a reserve hands on for the rows of people can be spent here too",
        "budget.accounting.plan:Reserve._take_rest",
        {"self._opened = self.promise.cost": "pass"},
        killer=PROMISE + "test_what_is_handed_on_is_gone",
    ),
    mutant(
        "zones-forgotten",
        "a data set with zones is charged for fits without them, and nobody is told",
        "budget.ledger.rules:priced",
        {"bound.of != (None if zones is None else zones.of) and not converting": "False"},
        killer=PROMISE + "test_the_zones_of_a_data_set_are_bound_by_its_first_charge",
    ),
    mutant(
        "zones-without-a-place",
        "the same polygon in other columns, or with other bounds, counts as the same zone",
        "fit.zones:Thinning.fingerprint",
        {"json.dumps([self.zones.fingerprint, where])": "json.dumps([self.zones.fingerprint])"},
        killer=PROMISE + "test_zones_are_of_the_columns_and_bounds_that_they_were_charged_in",
    ),
    mutant(
        "zones-converted-by-themselves",
        "a fit of another type is converted in a zone as if no row ever left it",
        "budget.ledger.rules:priced",
        {"_units(of_zone if promise.kind == kind else meant)": "_units(of_zone.to(kind))"},
        killer=PROMISE + "test_zones_are_converted_at_the_price_of_all_rows",
    ),
    mutant(
        "negative-part",
        "a reserve hands on less than nothing, and has more left",
        "budget.accounting.plan:Reserve._take",
        {"min(cost.epsilon, cost.delta) < 0 or ": ""},
        killer=PROMISE + "test_nothing_less_than_nothing_is_promised_handed_on_or_charged",
    ),
    mutant(
        "negative-charge",
        "a promise may be below 0, and its charge is a refund",
        "budget.accounting.promise:Promise.__post_init__",
        {"not_negative(name, getattr(self, name))": "getattr(self, name)"},
        killer=PROMISE + "test_nothing_less_than_nothing_is_promised_handed_on_or_charged",
    ),
    mutant(
        "relation-in-words",
        "a relation given as text is none of the two that the rules know, and converts for nothing",
        "budget.accounting.promise:Kind.__post_init__",
        {"Neighbours.parse(self.relation)": "self.relation"},
        killer=PROMISE + "test_a_relation_in_words_is_no_way_around_the_rules",
    ),
    mutant(
        "table-with-more-verified",
        "a Parquet file with another statement passes for the coreset that the ledger paid for",
        "published.coreset.files:is_file_of",
        {"own.schema_arrow.equals(found.schema_arrow, check_metadata=True)": "True"},
        killer="unit/cli/test_cli.py::test_a_table_that_says_more_than_the_coreset_is_no_coreset_of_the_ledger",
    ),
    mutant(
        "zone-total-not-raised",
        "a fit without the zones of its data set does not raise what their rows were charged",
        "budget.ledger.chain:ZoneTotals.add",
        {"more = own.get(name, whole)": "more = own.get(name, (0, 0))"},
        killer=PROMISE + "test_zones_that_are_left_out_raise_their_total",
    ),
    mutant(
        "chain-hash-published",
        "a certificate shows the hash of its charge, which commits to everything that the ledger held before",
        "fit.session:Session.receipt",
        {"self._receipt.receipt if durable": "self._receipt.hash if durable"},
        killer=LEAVES + "test_what_else_a_ledger_holds_changes_no_byte_of_a_release",
    ),
    mutant(
        "sequence-published",
        "a receipt holds the number of its entry, and so how often the ledger was charged",
        "fit.session:Session.receipt",
        {"self._receipt.receipt if durable": "f'{self._receipt.sequence:064x}' if durable"},
        killer=LEAVES + "test_what_else_a_ledger_holds_changes_no_byte_of_a_release",
    ),
    mutant(
        "anchor-unsalted",
        "the anchor shows the hash of the newest entry, against which guesses can be tried",
        "budget.ledger.anchor:_mark",
        {'digest("covey-anchor-2", state.salt, state.entries[sequence - 1].hash)': "state.entries[sequence - 1].hash"},
        killer="unit/budget/test_ledger_tamper.py::TestAnchor::test_it_tells_nothing_of_what_the_entries_hold",
    ),
    mutant(
        "seed-in-a-durable-ledger",
        "a seeded trial is stored in a ledger file",
        "fit.session:Session.__init__",
        {"if ledger is not None and ledger.path is not None and seed is not None:": "if False:"},
        killer=PROMISE + "test_seeded_noise_is_not_charged_to_a_file",
    ),
    mutant(
        "receipt-is-proof-enough",
        "a file with the receipt of a charge passes for the release, whatever it holds",
        "cli.ledger:compare",
        {"if content == stored:": "if True:"},
        killer="unit/cli/test_cli.py::test_a_release_is_got_again_and_compared_with_a_file",
    ),
)

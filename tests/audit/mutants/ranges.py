"""Bugs in ranges that are found privately: what they count, on which rows, and what they are charged."""

from mutants.planting import mutant

RANGES = "unit/fit/test_private_ranges.py::"
REPLAY = (
    "audit/test_replay.py::"
    "test_on_neighbours_the_same_questions_are_asked_and_no_answer_moves_too_far[private bounds-add-remove]"
)

MUTANTS = (
    mutant(
        "magnitude-counts-twice",
        "a row adds 2 to the count of its magnitude, and the sensitivity says 1",
        "queries.magnitudes:Magnitudes.accumulate",
        {"count_into(out, STEPS +": "count_into(out, STEPS + 0 * step)\n    count_into(out, STEPS +"},
        killer="property/test_magnitudes_sensitivity.py::test_one_row_moves_the_counts_by_at_most_the_sensitivity",
    ),
    mutant(
        "missing-numbers-are-counted",
        "a missing number is counted with those about 0, as its bits happen to fall",
        "queries.magnitudes:Magnitudes.accumulate",
        {"numbers = numbers[~np.isnan(numbers)]": "numbers = np.nan_to_num(numbers, nan=0.0)"},
        killer="unit/queries/test_magnitudes.py::test_every_number_has_the_place_that_it_should_have",
    ),
    mutant(
        "nan-keeps-its-bits",
        "NaN of different bits are different rows, so that a cap tells apart what a reader may have changed",
        "queries.magnitudes:raw_rows",
        {"np.where(np.isnan(values), np.nan, values) + 0.0": "values + 0.0"},
        killer="unit/queries/test_magnitudes.py::test_bits_are_the_row_itself_but_for_nan_and_minus_zero",
    ),
    mutant(
        "ranges-are-free",
        "the fit has all of epsilon, and the ranges cost their part on top",
        "fit.ranges:Look.settle",
        {"own, rest = reserve.part(inner), reserve.rest()": "own, rest = Reserve(reserve.promise), reserve.rest()"},
        killer=RANGES + "test_what_is_spent_adds_up_to_what_was_promised",
    ),
    mutant(
        "ranges-outside-the-sample",
        "what ranges cost is amplified by the sample as if they had one of their own",
        "fit.ranges:Look._in_terms_of_rows",
        {"whole.on_sample(sample.rate)": "Reserve(whole.promise).on_sample(sample.rate**2)"},
        killer=RANGES + "test_what_is_spent_adds_up_to_what_was_promised",
    ),
    mutant(
        "ranges-of-people-cost-as-rows",
        "each row of a person may cost what the person was promised for the ranges",
        "fit.ranges:Look._in_terms_of_rows",
        {"whole.for_rows(cap=person.rows)": "whole.for_rows(cap=1)"},
        killer=RANGES + "test_what_is_spent_adds_up_to_what_was_promised",
    ),
    mutant(
        "one-charge-for-two-plans",
        "the ranges are charged next to nothing",
        "fit.session:Session.before",
        {"Cost(self.reserve.promise.epsilon - self._owed.epsilon)": "Cost(self.reserve.promise.epsilon / 10**6)"},
        killer=RANGES + "test_two_charges_and_each_release_under_its_own_receipt",
    ),
    mutant(
        "rest-affordable-is-enough",
        "ranges are charged although the whole fit cannot be paid for",
        "fit.ranges:Look.stored",
        {"self.request.promise if self.session.finished() is None else None": "None"},
        killer=RANGES + "test_both_must_be_affordable_before_anything_is_charged",
    ),
    mutant(
        "ranges-are-looked-for-again",
        "a fit that is taken up again pays for its ranges once more",
        "fit.ranges:Look.settle",
        {"stored = self.session.finished()": "stored = None"},
        killer=RANGES + "test_a_crash_between_the_charges_keeps_the_first_and_finds_it_again",
    ),
    mutant(
        "key-without-shares",
        "a key stands for ranges of any share",
        "fit.request:Request.fingerprint",
        {'{} if not private else {"private": {name: str(each) for name, each in private.items()}}': "{}"},
        killer=RANGES + "test_a_key_stands_for_the_shares_too",
    ),
    mutant(
        "every-pass-draws-a-sample",
        "the ranges are of another sample than the fit",
        "fit.ranges:Look.settle",
        {"HeldTable(table) if self.request.sample is not None else table": "table"},
        killer=RANGES + "test_people_with_a_cap_and_a_sample_see_the_same_rows_in_every_pass",
        dies_of=("BudgetError",),
    ),
    mutant(
        "certificate-without-the-ranges-share",
        "the certificate states what the fit alone has cost, although its domain holds the ranges",
        "fit.certify:certify",
        {
            "epsilon=float_at_least(request.epsilon)": (
                "epsilon=float_at_least(request.epsilon) - outcome.notes.get('bounds', {}).get('epsilon', 0)"
            )
        },
        killer=RANGES + "test_the_certificate_promises_the_sum_and_names_the_part",
    ),
    mutant(
        "windows-of-exact-magnitudes",
        "which magnitudes a column has is judged by exact counts, although noisy ones were paid for",
        "fit.ranges:_find",
        {
            "rows = lit(counts, scale=scale)": (
                "exact = np.flatnonzero(door._engine.total(Magnitudes(raw, i)))\n"
                "        rows = (int(exact[0]), int(exact[-1])) if len(exact) else None"
            )
        },
        killer=REPLAY,
    ),
)

"""Bugs in questions about released centres: what is in clusters, and how good they are."""

from mutants.planting import mutant

BOUNDS = "property/test_profile_sensitivity.py::"
LAW = "statistical/test_profile_law.py::test_every_count_has_the_noise_of_all_columns_and_this_test_can_tell"
SCORES = "property/test_score_sensitivity.py::"
FITS = "unit/fit/test_profile.py::"
FOUND = "unit/fit/test_private_categories.py::"
OWN = (
    "statistical/test_profile_law.py::test_a_text_of_one_person_is_shown_as_rarely_as_delta_says_and_this_test_can_tell"
)

MUTANTS = (
    mutant(
        "profile-of-one-column",
        "all columns of a profile are noised as if there were one: epsilon is spent for each of them",
        "queries.profile:ProfileCounts.sensitivity",
        {"each = len(self.cells)": "each = 1"},
        killer=BOUNDS + "test_both_bounds_are_attained",
    ),
    mutant(
        "profile-of-add-remove-for-replace-one",
        "a profile has the scale of add/remove where a row is replaced",
        "queries.profile:ProfileCounts.sensitivity",
        {"if neighbours is Neighbours.ADD_REMOVE:": "if neighbours:"},
        killer=LAW + "[replace-one-1-80]",
    ),
    mutant(
        "profile-counts-neighbouring-cells",
        "a row is counted in its bin and in the next one, so that histograms look smooth",
        "queries.profile:ProfileCounts.accumulate",
        {
            "count_into(part, label * many + cell)": (
                "count_into(part, label * many + cell)\n"
                "            count_into(part, label * many + np.minimum(cell + 1, many - 1))"
            )
        },
        killer=BOUNDS + "test_both_bounds_are_attained",
    ),
    mutant(
        "profile-hides-empty-cells",
        "cells that no row is in stay 0: what is 0 tells that nobody is there",
        "fit.profile:Question.ask",
        {
            "query.tables(curator.release(query, count))": (
                "query.tables(np.where(curator._engine.total(query) == 0, 0, curator.release(query, count)))"
            )
        },
        killer=LAW + "[add-remove-1-40]",
    ),
    mutant(
        "profile-of-all-rows-of-a-person",
        "people are promised something for a few rows, and all of their rows are counted",
        "private.narrowed.pairs:Ranked.smallest",
        {"stay = order[within < most]": "stay = order[within < 10**9]"},
        killer=FITS + "test_people_are_capped_and_pay_for_all_their_rows",
    ),
    mutant(
        "profile-category-by-the-table",
        "a whole number is another category where a table holds it as a fraction, 7.0",
        "published.profile.columns:spelling",
        {"if _DECIMALS.fullmatch(text):": "if False:"},
        killer=FOUND + "test_a_value_is_the_same_category_however_it_is_written",
    ),
    mutant(
        "profile-texts-by-their-exact-count",
        "private categories are shown by how many rows have them exactly: somebody's row decides about the last one",
        "noise.mechanisms:ThresholdedLaplace.add_by_key",
        {"shown = noisy >= tau": "shown = numbers >= tau"},
        killer=OWN + "[asked0-1-40000-0.2]",
    ),
    mutant(
        "profile-texts-without-a-threshold",
        "every private category that its noise leaves above 0 is shown",
        "noise.mechanisms:ThresholdedLaplace.add_by_key",
        {"shown = noisy >= tau": "shown = noisy > 0"},
        killer=FOUND + "test_texts_of_many_rows_are_found_and_all_else_is_other",
    ),
    mutant(
        "profile-texts-of-one-replaced-row",
        "a replaced row changes one text at most: its noise and threshold are those of add/remove",
        "queries.counts:one_unit",
        {"return Sensitivity(l1=2, l2_squared=2, linf=1, coordinates=2)": "return one_unit(Neighbours.ADD_REMOVE)"},
        killer=BOUNDS + "test_the_bounds_of_texts_are_attained",
    ),
    mutant(
        "profile-texts-with-all-of-epsilon",
        "the search for categories is run with the epsilon of the whole profile, and so with too little noise",
        "fit.profile:Question.ask",
        {"ThresholdedLaplace(part, ": "ThresholdedLaplace(promise.epsilon, "},
        killer=FOUND + "test_the_certificate_and_the_words_say_how",
        dies_of=("BudgetError",),
    ),
    mutant(
        "profile-texts-each-with-all-of-delta",
        "each private column is searched with all of delta",
        "fit.profile:Question.ask",
        {"promise.delta / len(private)": "promise.delta"},
        killer=FOUND + "test_delta_is_shared_by_private_columns",
        dies_of=("ParameterError",),
    ),
    mutant(
        "profile-texts-that-are-not-cut",
        "a text beyond the public length is told by its whole length: half a letter, and what nobody can show",
        "private.tables.coded:_pairs",
        {"each if each.isprintable() else NO_PLACE": "each"},
        killer=FOUND + "test_texts_are_cut_to_a_public_length_and_can_be_shown",
    ),
    mutant(
        "profile-delta-is-not-charged",
        "private categories are found without their delta in the promise",
        "fit.about:Terms.promise",
        {"self.epsilon, self.delta)": "self.epsilon, Fraction(0))"},
        killer=FOUND + "test_epsilon_and_delta_are_charged_before_a_row_is_read",
        dies_of=("ParameterError", "AssertionError"),
    ),
    mutant(
        "profile-delta-is-not-bound-to-its-key",
        "a key returns a profile of another delta than it was made for",
        "fit.about:_fingerprint",
        {'**({"delta": str(terms.delta)} if terms.delta else {}),': ""},
        killer=FOUND + "test_epsilon_and_delta_are_charged_before_a_row_is_read",
        dies_of=("Failed",),
    ),
    mutant(
        "profile-of-seeded-centres",
        "centres that are not private are asked about as if they were",
        "fit.about:check_terms",
        {"if part.seeded and seed is None:": "if False:"},
        killer=FITS + "test_what_is_wrong_is_refused_by_name[asked22-release: is seeded]",
        dies_of=("Failed",),
    ),
    mutant(
        "profile-key-of-any-columns",
        "a key returns a profile of other columns than it was made for",
        "fit.about:_fingerprint",
        {"**asked,": ""},
        killer=FITS + "test_a_profile_is_charged_once_and_its_key_returns_it_for_nothing",
        dies_of=("Failed",),
    ),
    mutant(
        "score-of-one-set",
        "all sets of centres of a score are noised as if there were one",
        "queries.scores:SoftRings.sensitivity",
        {"many = len(self.centres)": "many = 1"},
        killer=SCORES + "test_both_bounds_are_attained[k-means]",
    ),
    mutant(
        "score-of-add-remove-for-replace-one",
        "scores have the scale of add/remove where a row is replaced",
        "queries.scores:SoftRings.sensitivity",
        {"if neighbours is Neighbours.ADD_REMOVE:": "if neighbours:"},
        killer=SCORES + "test_both_bounds_are_attained[k-median]",
    ),
    mutant(
        "score-beyond-the-last-knot",
        "a row beyond the clip adds more than its mass to the last knot, and takes it from the one before",
        "queries.scores:SoftRings.accumulate",
        {"cost = np.minimum(self._cost(": "cost = np.maximum(0, self._cost(", ", knots[-1])": ")"},
        killer=SCORES + "test_one_row_moves_the_masses_by_at_most_the_sensitivity[k-means-box]",
    ),
    mutant(
        "score-key-of-any-distance",
        "a key returns scores that were made for another distance",
        "fit.about:_fingerprint",
        {"**asked,": ""},
        killer="unit/fit/test_score.py::test_a_score_is_charged_first_and_kept_under_its_key",
        dies_of=("Failed",),
    ),
)

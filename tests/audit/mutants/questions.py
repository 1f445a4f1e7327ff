"""Bugs in questions about released centres: what is in clusters, and how good they are."""

from mutants.planting import mutant

BOUNDS = "property/test_profile_sensitivity.py::"
LAW = "statistical/test_profile_law.py::test_every_count_has_the_noise_of_all_columns_and_this_test_can_tell"
SCORES = "property/test_score_sensitivity.py::"
FITS = "unit/fit/test_profile.py::"

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
            "count_into(part, label * many + self._cell(code, many))": (
                "count_into(part, label * many + self._cell(code, many))\n"
                "            count_into(part, label * many + np.minimum(self._cell(code, many) + 1, many - 1))"
            )
        },
        killer=BOUNDS + "test_both_bounds_are_attained",
    ),
    mutant(
        "profile-hides-empty-cells",
        "cells that no row is in stay 0: what is 0 tells that nobody is there",
        "fit.about:asked_once",
        {
            "return curator.release(query, noise)": (
                "noisy = curator.release(query, noise)\n"
                "    return np.where(curator._engine.total(query) == 0, 0, noisy)"
            )
        },
        killer=LAW + "[add-remove-1-40]",
    ),
    mutant(
        "profile-of-all-rows-of-a-person",
        "people are promised something for a few rows, and all of their rows are counted",
        "private.narrowed.cap:Ranked.smallest",
        {"stay = within < most": "stay = within < 10**9"},
        killer=FITS + "test_people_are_capped_and_pay_for_all_their_rows",
    ),
    mutant(
        "profile-category-by-the-piece",
        "whether a whole number is one of the declared texts depends on whether another row of its piece is a fraction",
        "private.tables.coded:_whole",
        {"number = int(name) if _WHOLE.fullmatch(name) else None": "number = None"},
        killer="unit/private/test_coded.py::test_a_cell_has_the_same_place_whatever_stands_beside_it",
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

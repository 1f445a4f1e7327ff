"""Why each mutant that survived is no bug, by its id, and the tests that survivors showed to be missing."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    # the same answer on another way
    "e4ee5c1d": "only which of two ways to count is quicker",
    "86af0809": "only when sorted keys are merged, which changes no count",
    "c2461c46": "blocks are pruned less, and every point is still looked at once",
    "3030ad61": "leaf 0 is searched for again, and found",
    "54528f56": "the word 1 is never sure by its margin either, and goes the exact way",
    "fd7924fb": "threads of the reader change no row",
    "5285a0d4": "the size of a cache",
    "a529a878": "words that tie here are settled again, one by one, right below",
    "c8a30ac3": "a copy of the same words",
    "c3d6cbc4": "the flag of rows outside is hashed with another coordinate, and with it all the same",
    "778c4a4d": "where a search for the smallest number begins, which it does not depend on",
    # both are right at the border, or it cannot be met
    "164bd2e7": "a middle between two floats next to each other is one of them, and the steps end",
    "2f261cbf": "one more step of the grid where delta is met exactly: never less than what is spent",
    "3852b741": "where events use up all of delta, the library's answer is checked against it like any other",
    "b37cec93": "picks whose rounded cost is epsilon exactly are left for some that cost a unit less: no less private",
    "65006cb5": "a tie of two float estimates, from public numbers: either choice is private",
    "8f55987f": "where a line ends stands a newline, and no comma",
    "1b6cbe08": "without a delta the sums are what is left below, too",
    # more digits than are needed
    "09537670": "a margin of 1e-6 against floats that are right to 1e-10",
    "2b5703d7": "more digits than the bound asks for",
    "afd5d490": "one digit more than the slack needs",
    # the same number in another place
    "0549916d": "there are as many weights as centres",
    "43163c56": "both halves of a name are as many",
    "823642b0": "both noises have the same epsilon",
    "89ae3529": "both noises have the same epsilon",
    "a6ad8696": "only the product of the two is used",
    "082fb16a": "the first two steps give the same radius",
    "94c37555": "both have two members",
    "daaa0e76": "a promise for rows has come to an end above, or is for rows again",
    "3ee198b4": "k and candidates are limited to less before",
    "10a04497": "it is int64 already",
}

ADDED: dict[str, str] = {
    "audit/test_crossed.py::test_a_fit_repeats_and_its_key_is_bound_to_every_parameter": "parameters in a key",
    "unit/algorithms/test_splits.py::test_a_candidate_without_rows_stays_where_it_is": "noise is no mean",
    "unit/algorithms/test_splits.py::test_auto_in_many_columns_splits_a_pure_epsilon_by_parts_of_98": "a split",
    "unit/algorithms/test_splits.py::test_max_cover_splits_by_7_2_6_and_9_parts_of_24": "a split",
    "unit/algorithms/test_splits.py::test_nearest_is_judged_where_clusters_were_found": "the space of a step",
    "unit/algorithms/test_splits.py::test_whether_a_delta_helps_is_tried_for_very_many_some_and_the_fewest_rows": (
        "the sizes that are tried"
    ),
    "unit/budget/test_budget_borders.py::test_an_inner_epsilon_that_would_cost_too_much_goes_down_step_by_step": (
        "a step"
    ),
    "unit/budget/test_budget_borders.py::test_floats_are_rounded_to_the_side_that_was_asked_for": "roundings",
    "unit/budget/test_budget_borders.py::test_losses_that_are_merged_keep_their_weight_and_hardly_move": "losses",
    "unit/budget/test_budget_borders.py::test_one_event_with_more_delta_than_was_promised_is_refused": "a border",
    "unit/budget/test_budget_borders.py::test_the_curve_of_gaussian_noise_goes_on_below_zero": "the curve below 0",
    "unit/fit/test_fit_borders.py::test_every_parameter_is_in_the_fingerprint": "a field left out",
    "unit/fit/test_fit_borders.py::test_levels_ask_whether_to_go_on_while_rows_are_read": "a call left out",
    "unit/fit/test_fit_borders.py::test_too_many_corners_of_zones_are_refused": "a check that no test had met",
    "unit/fit/test_fit_borders.py::test_with_people_and_zones_a_synopsis_says_nothing_of_its_noise": "a branch",
    "unit/fit/test_zones_tries.py::test_beside_the_corners_of_stricter_zones_near_and_far_steps_are_tried": "places",
    "unit/noise/test_noise_borders.py::test_the_margin_of_a_pick_counts_every_addition": "a margin of floats",
    "unit/noise/test_sampler_numbers.py::test_every_call_of_a_sampler_is_observed": "what samplers are handed",
    "unit/private/test_reader_borders.py::test_every_pass_is_finished_before_its_answer_is_used": "a call left out",
    "unit/private/test_reader_borders.py::test_quotes_open_close_or_stray_by_the_rule_itself": "quotes in CSV files",
    "unit/queries/test_query_borders.py::test_by_zone_a_replaced_row_leaves_one_block_and_enters_another": (
        "a sensitivity"
    ),
    "unit/queries/test_query_borders.py::test_no_row_moves_the_gain_of_a_swap_out_of_its_range": "a rounding",
    "unit/studio/test_studio_limits.py::test_a_bucket_holds_a_burst_and_fills_at_its_rate": "a clock of its own",
}

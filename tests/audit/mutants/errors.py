"""Bugs in what a release says about its own errors: nobody's privacy is harmed, but a number is believed too much."""

from mutants.planting import mutant

ERRORS = "unit/post/errors/"

MUTANTS = (
    mutant(
        "straddling-dropped",
        "rows of a box that a border cuts are taken to be spread evenly, for certain",
        "post.errors.sizes:cluster_sizes",
        {"uneven = np.maximum(sums.uneven(), 0.0)": "uneven = 0 * sums.uneven()"},
        killer=ERRORS + "test_error_sizes.py::test_a_cut_box_is_half_as_uneven_as_it_can_be",
    ),
    mutant(
        "no-small-boxes-no-release",
        "of very many boxes of which none is small, a fit ends in an error after its charge",
        "post.errors.mixture:_one_place",
        {"np.concatenate([middles[:0], *found])": "np.concatenate(found)"},
        killer=ERRORS + "test_error_mixture.py::test_of_very_many_boxes_none_need_be_small",
        dies_of=("ValueError",),
    ),
    mutant(
        "heavy-box-averages-out",
        "one box with a tenth of a cluster is taken to be as evenly spread as many would be",
        "post.errors.sizes:_Sums.uneven",
        {"np.where(heavy, 0.25, share * (1 - share))": "share * (1 - share)"},
        killer=ERRORS + "test_error_sizes.py::test_one_heavy_box_may_have_all_its_rows_on_either_side",
    ),
    mutant(
        "nobody-kept-nobody-there",
        "where coins kept nobody of a zone, it is certain that it has no rows",
        "post.errors.sizes:cluster_sizes",
        {" + FEWEST * np.square(_coins(boxes, cut, k))": ""},
        killer="statistical/test_zones_counted_up_law.py"
        "::test_intervals_hold_where_hardly_anybody_is_kept_and_noise_is_small",
    ),
    mutant(
        "kept-costs-bound-all",
        "bounds on the costs of the rows that zones kept are stated as if they were all rows",
        "fit.certify:certify",
        {'thinned = "zones" in outcome.notes and not outcome.counted_up': "thinned = False"},
        killer="unit/fit/test_zones_counted_up.py::test_no_bound_on_costs_is_stated_of_rows_that_zones_kept",
    ),
    mutant(
        "no-noise-where-nothing-stands-out",
        "a level in which nothing stands out knows the number of its rows exactly",
        "published.levels.cells:boxes_of",
        {"max(whole, 1.0) * one, whole_variance * one": "max(whole, 1.0) * one, 0 * one"},
        killer="unit/published/levels/test_level_boxes.py"
        "::test_where_nothing_stands_out_all_rows_are_one_box_with_the_noise_of_their_number",
    ),
    mutant(
        "number-of-rows-exact",
        "how far a row is on average is told as if the noisy number of rows were exact",
        "post.errors.costs:_estimate",
        {"for each in (0.0, mean)": "for each in (0.0, 0.0 * mean)"},
        killer=ERRORS + "test_mean_interval.py::test_intervals_of_a_mean_hold_nine_times_in_ten",
    ),
    mutant(
        "noise-of-a-net-as-printed",
        "the bound on private nets counts a dth of their noise, as the paper prints it",
        "theory.nets:bicriteria_ceiling",
        {"away = d * math.log": "away = math.log"},
        killer="unit/theory/test_nets.py::test_the_centres_of_all_nets",
    ),
    mutant(
        "minutes-with-the-interval-of-metres",
        "the mean distance is told in minutes, between ends in metres",
        "published.coreset.compare:_way",
        {"_or_none(value * each)": "_or_none(value * each if end == name else value)"},
        killer="unit/published/test_coreset_sites.py::test_minutes_are_metres_at_the_stated_speed_with_their_interval",
    ),
    mutant(
        "degrees-told-as-metres",
        "the distance in the units of the data that a release tells stands in a table of metres",
        "cli.answers:as_released",
        {"(kind == METRES) is not metres": "False"},
        killer="unit/cli/test_cli_coreset.py"
        "::test_columns_named_by_options_are_told_in_metres_and_never_degrees_as_such",
    ),
    mutant(
        "kept-rows-told-as-all",
        "the share of kept rows that was outside is told as that of all rows, most of which a zone may have left out",
        "published.outside:share_outside",
        {'if "zones" in certificate.parameters': "if False"},
        killer="unit/published/test_outside.py::test_with_zones_it_is_the_share_of_kept_rows_and_says_so",
    ),
    mutant(
        "joint-read-as-single",
        "intervals that are said to hold all at once are those that hold one by one",
        "post.errors.sizes:Sizes.joint",
        {"1 - (1 - level) / len(self.sizes)": "level"},
        killer=ERRORS + "test_error_sizes.py::test_joint_intervals_are_wider_and_hold_all_at_once",
    ),
    mutant(
        "noise-of-the-sample",
        "counts of a sample are scaled to all rows, their noise is not",
        "post.errors.boxes:CountedBoxes.of_all",
        {"variances=self.variances * scale**2 + drawn": "variances=self.variances"},
        killer=ERRORS + "test_error_boxes.py::test_the_boxes_of_a_sample_stand_for_all_rows_with_all_of_their_noise",
    ),
    mutant(
        "drawing-forgotten",
        "who was drawn into a sample adds nothing to the error of its counts",
        "post.errors.boxes:CountedBoxes.of_all",
        {"variances=self.variances * scale**2 + drawn": "variances=self.variances * scale**2 + 0 * drawn"},
        killer=ERRORS + "test_error_boxes.py::test_the_boxes_of_a_sample_stand_for_all_rows_with_all_of_their_noise",
    ),
    mutant(
        "doubt-by-size-alone",
        "a centre on a few large draws of noise is called real because they are large",
        "post.errors.doubt:doubtful",
        {"small | (_chance(boxes, label, k, boxes.thresholds) >= CHANCE)": "small"},
        killer=ERRORS + "test_error_doubt.py::test_few_empty_boxes_that_stand_out_are_doubted_however_large_together",
    ),
    mutant(
        "one-place-looked-at",
        "noise that is rare in one place, and is somewhere among thousands, is called rows",
        "post.errors.doubt:_together",
        {"len(boxes.counts) * np.exp(": "1.0 * np.exp("},
        killer=ERRORS + "test_error_doubt.py::test_the_chance_of_all_boxes_together_is_that_of_the_best_t",
    ),
    mutant(
        "places-finer-than-boxes",
        "where all reruns land in one place, the place of a centre is told more finely than rows were counted",
        "post.errors.reruns:rerun",
        {
            "np.maximum(_radii(unseen.variances, moved), FINEST * np.sqrt(unseen.squares))": (
                "_radii(unseen.variances, moved)"
            )
        },
        killer=ERRORS + "test_error_reruns.py::test_where_reruns_are_all_alike_half_a_box_and_half_a_percent_are_said",
    ),
    mutant(
        "reruns-see-every-optimum",
        "where all reruns cost as little as the best centres of their rows, so does the release on its own",
        "post.errors.reruns:_bound",
        {
            "float(np.hypot(SAFETY * _law(extra) + unseen.heavy * per_square / least, LEAST_EXCESS))": (
                "SAFETY * _law(extra) + unseen.heavy * per_square / least"
            )
        },
        killer=ERRORS + "test_error_reruns.py::test_where_reruns_are_all_alike_half_a_box_and_half_a_percent_are_said",
    ),
    mutant(
        "normal-tails",
        "a sum of few draws of noise has the tails of a normal one",
        "post.errors.quantiles:deviations",
        {"np.clip(draws, _FEWEST, _MOST)": "np.full_like(draws, _MOST)"},
        killer=ERRORS + "test_error_quantiles.py"
        "::test_as_many_deviations_hold_a_sum_of_laplace_draws_as_often_as_they_say",
    ),
    mutant(
        "rows-at-midpoints",
        "a box's rows are taken to be at its middle when costs are told",
        "post.errors.mixture:_several_places",
        {"return Places(np.concatenate(points), weight, owner)": "return Places(boxes.points[owner], weight, owner)"},
        killer=ERRORS + "test_error_mixture.py::test_the_mixture_says_where_rows_are_where_midpoints_are_far_off",
    ),
    mutant(
        "small-boxes-at-midpoints",
        "of very many boxes, rows of the small ones are taken to be at their middles",
        "post.errors.mixture:_one_place",
        {"np.square(widths) / 24 * np.concatenate([middles[:0], *found])": "0 * middles"},
        killer=ERRORS + "test_error_mixture.py"
        "::test_one_place_in_each_of_very_many_small_boxes_costs_what_rows_spread_in_them_do",
    ),
    mutant(
        "rounded-rows-forgotten",
        "that many rows are the same says nothing about where the others are in their boxes",
        "post.errors.costs:_on_one_side",
        {"return rounded * math.hypot(*more)": "return 0.0 * math.hypot(*more)"},
        killer=ERRORS + "test_mean_interval.py"
        "::test_where_many_rows_are_the_same_the_others_may_all_be_on_one_side_of_their_boxes",
    ),
    mutant(
        "border-passed-over",
        "boxes that a border cuts off-centre are taken to lie on one side of it",
        "post.errors.boxes:_at_a_border",
        {"1.001 * np.sqrt(squared_lengths(widths))": "0.5 * np.sqrt(squared_lengths(widths))"},
        killer=ERRORS + "test_error_boxes.py::test_no_box_that_a_border_cuts_is_passed_over",
    ),
    mutant(
        "border-paid-to-one-side",
        "what rows in a box that a border cuts pay is told as if all were nearest to the centre of its middle",
        "post.errors.costs:squares_in_boxes",
        {"even[:, near.border] = ": "even[:, near.border] += 0 * "},
        killer=ERRORS + "test_mean_interval.py"
        "::test_what_is_paid_in_boxes_that_no_border_cuts_is_found_without_the_other_centres",
    ),
    mutant(
        "light-boxes-left-out",
        "reruns are on rows of the boxes that stand out alone, and so never off by what a fit leaves out",
        "post.errors.reruns:MadeUp.of",
        {" + _light(boxes, mixture, centres)": ""},
        killer=ERRORS + "test_error_mixture.py"
        "::test_rows_in_boxes_that_do_not_stand_out_are_made_up_where_together_they_exceed_the_noise",
    ),
    mutant(
        "edge-forgotten",
        "rows that were moved to the edge of the domain are taken to be where those of other boxes are",
        "post.errors.costs:_estimate",
        {"variance += (EDGE * edge) ** 2": "variance += 0 * edge"},
        killer=ERRORS + "test_error_mixture.py::test_a_cost_holds_where_rows_sit_on_the_edge_of_the_domain",
    ),
    mutant(
        "errors-left-behind",
        "centres are sorted, and the errors of their sizes and places are not",
        "published.errors:Errors.in_order",
        {"[each[i] for i in order]": "list(each)"},
        killer="unit/published/test_sentences.py::test_errors_follow_their_centres",
    ),
    mutant(
        "zones-told-as-if-whole",
        "a level whose rows were thinned out by zones has intervals as if they were not",
        "published.levels.levels:LevelSet.known",
        {"if self.zoned:": "if False:"},
        killer="unit/fit/test_rehearse_levels.py::test_zones_have_no_errors",
    ),
    mutant(
        "noise-not-divided",
        "rows of a zone are counted up, and the noise of their number is not",
        "post.zones:KeptCounts.variances",
        {"(noise + coins) / rate**2": "(noise + coins) / rate"},
        killer="unit/post/test_kept_counts.py::test_noise_is_divided_as_the_numbers_are_and_coins_add_theirs",
    ),
    mutant(
        "zone-coins-forgotten",
        "whom the coins of a zone kept adds nothing to the error of its number of rows",
        "post.zones:KeptCounts.variances",
        {"np.maximum(self.noisy, 0.0) * (1 - rate)": "0.0"},
        killer="unit/post/test_kept_counts.py::test_noise_is_divided_as_the_numbers_are_and_coins_add_theirs",
    ),
    mutant(
        "zone-coins-of-single-rows",
        "rows of a person, whom one coin keeps with all of them, add to the error as if each had its own",
        "post.zones:KeptCounts.variances",
        {"(self.keys.together or 1)": "1"},
        killer="statistical/test_zones_of_people_law.py::test_the_variance_counts_the_rows_that_share_a_coin[5-True]",
    ),
    mutant(
        "reruns-with-a-persons-epsilon",
        "reruns of a level of people have noise for one row a person",
        "fit.rehearse:level_again",
        {"each.epsilon / share * stronger": "each.epsilon * stronger"},
        killer="unit/fit/test_rehearse_levels.py::test_reruns_have_the_noise_of_the_level",
    ),
    mutant(
        "differences-of-their-costs",
        "whether two alternatives are tied is told by the difference alone",
        "published.coreset.compare:_against",
        {"low <= 0 <= high": "found.cost == 0"},
        killer=ERRORS + "test_cost_differences.py::test_alternatives_that_noise_decides_are_tied_and_others_are_not",
    ),
    mutant(
        "rerun-heard",
        "whoever listens to a fit takes its reruns on made-up rows for what was asked about the real ones",
        "fit.rehearse:reruns",
        {"with heard_by(lambda curator: curator):": "if True:"},
        killer="unit/fit/test_rehearse.py::test_nobody_hears_a_rerun",
    ),
)

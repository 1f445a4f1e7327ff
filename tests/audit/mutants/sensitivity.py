"""Bugs in what the noise is scaled to: one person moves a statistic farther than its query says."""

from mutants.planting import mutant

BOUNDS = "property/test_sensitivity.py::"
ROWS = "audit/test_checks_rows.py::"

MUTANTS = (
    mutant(
        "sums-of-add-remove-for-replace-one",
        "cluster sums have the scale of add/remove where a row is replaced (as printed in Su et al. 2016)",
        "queries.voronoi:VoronoiSums.sensitivity",
        {"if neighbours is Neighbours.ADD_REMOVE:": "if neighbours:"},
        killer=BOUNDS + "test_sums_in_a_box_attain_every_bound",
    ),
    mutant(
        "sums-without-count",
        "the sensitivity of sums and counts together forgets the count",
        "queries.voronoi:VoronoiSums.sensitivity",
        {"one = domain.row_l1 + count": "one = domain.row_l1"},
        killer=BOUNDS + "test_sums_in_a_box_attain_every_bound",
    ),
    mutant(
        "squares-without-count",
        "the L2 sensitivity of sums and counts together forgets the count: Gaussian rounds of lloyd are too sharp",
        "queries.voronoi:VoronoiSums.sensitivity",
        {"one_squared = domain.row_l2_squared + count**2": "one_squared = domain.row_l2_squared"},
        killer="unit/algorithms/test_lloyd_forms.py::"
        "test_gaussian_noise_is_that_of_the_joint_sensitivity_and_this_test_can_tell[add-remove-1.7320508075688772]",
    ),
    mutant(
        "mean-without-its-count",
        "noise by length is drawn for the sums alone where the number of rows is in the same vector",
        "queries.moments:MeanAndCount.sensitivity",
        {"l2_by_block=math.isqrt(square - 1) + 1": "l2_by_block=sums.l2_by_block"},
        killer="unit/queries/test_clipped.py::test_sums_with_the_number_of_rows_attain_their_bounds",
    ),
    mutant(
        "sums-corner-to-corner",
        "replace-one forgets that a row may cross one cluster from corner to corner",
        "queries.voronoi:VoronoiSums.sensitivity",
        {"linf=2 * count": "linf=count"},
        killer=BOUNDS + "test_sums_in_a_box_attain_every_bound",
    ),
    mutant(
        "squares-as-from-the-middle",
        "a row's squared distance is taken to be at most that of a corner from the middle, wherever the centres are",
        "queries.squares:NearestSquares.__init__",
        {"farthest = farthest_square(self.centres, domain)": "farthest = domain.dimension * domain.limit**2"},
        killer=BOUNDS + "test_squares_attain_their_bound[2]",
    ),
    mutant(
        "squares-of-half-the-domain",
        "the search for the farthest place forgets one half of every box that it splits",
        "queries.squares:farthest_square",
        {"heappush(waiting, (-bound(above, high), number + 1, above, high))": "pass"},
        killer=BOUNDS + "test_no_row_is_farther_from_all_centres_than_the_farthest_place",
    ),
    mutant(
        "counts-of-add-remove-for-replace-one",
        "cell counts have the scale of add/remove where a row is replaced",
        "queries.counts:one_unit",
        {"if neighbours is Neighbours.ADD_REMOVE:": "if neighbours:"},
        killer=BOUNDS + "test_counts_attain_their_bound",
    ),
    mutant(
        "costs-always-monotone",
        "costs count as monotone where a row is replaced: half of the noise that a private choice needs",
        "queries.costs:NegativeCosts.sensitivity",
        {"monotone=neighbours is Neighbours.ADD_REMOVE": "monotone=True"},
        killer=BOUNDS + "test_costs_attain_their_bound",
    ),
    mutant(
        "costs-of-the-half-diameter",
        "a row's cost is taken to be at most its distance from the middle",
        "queries.costs:NegativeCosts.sensitivity",
        {"all_move(self.row_cost,": "all_move(self.row_cost // 2,"},
        killer=BOUNDS + "test_costs_attain_their_bound",
    ),
    mutant(
        "costs-normalised",
        "candidates are compared by their cost per row, as if that moved by 1/n of the cost",
        "queries.costs:NegativeCosts.accumulate",
        {"cost *= 2.0**-self.shift": "cost *= 2.0**-self.shift * 1000.0 / max(1, rows.shape[1])"},
        killer=BOUNDS + "test_costs_attain_their_bound",
    ),
    mutant(
        "net-without-slabs",
        "the sensitivity of nested slabs forgets that a row shifts all slabs after its own",
        "queries.net:NetSums.sensitivity",
        {"2 * d * limit * self.slabs ** (d - 1)": "2 * d * limit"},
        killer="property/test_net_queries.py::test_in_two_dimensions_the_bound_needs_its_factor_and_not_more",
    ),
    mutant(
        "balls-unweighed",
        "the score of a small ball is taken to move by half of what it does",
        "queries.ballcounts:BallScores.sensitivity",
        {"all_move(WORTH,": "all_move(WORTH // 2,"},
        killer="unit/queries/test_tiny_lattices.py::test_no_data_set_of_a_tiny_grid_moves_a_score_too_far[1-5-4]",
    ),
    mutant(
        "radius-quality-half",
        "GOOD-RADIUS is taken to move by 1, as without the average over t balls",
        "queries.radius:RadiusQuality.sensitivity",
        {"all_move(2 * self.t,": "all_move(self.t,"},
        killer="unit/queries/test_tiny_lattices.py::test_no_data_set_of_a_tiny_grid_moves_a_score_too_far[1-5-4]",
    ),
    mutant(
        "residuals-of-add-remove-for-replace-one",
        "clipped residuals have the scale of add/remove where a row is replaced",
        "queries.residuals:ResidualSums.sensitivity",
        {"if neighbours is Neighbours.ADD_REMOVE:": "if neighbours:"},
        killer="audit/test_checks_rows.py::test_corner_rows_move_every_statistic_by_at_most_its_sensitivity",
    ),
    mutant(
        "residuals-of-one-block-for-replace-one",
        "noise by length forgets that a replaced row leaves one cluster and enters another: half of what both move",
        "queries.residuals:ResidualSums.sensitivity",
        {"l2_by_block=2 * length": "l2_by_block=length"},
        killer="audit/test_checks_rows.py::test_corner_rows_move_every_statistic_by_at_most_its_sensitivity",
    ),
    mutant(
        "residuals-unclipped",
        "residuals are not clipped to the radius that their noise is scaled to",
        "queries.clipping:Clip.residuals",
        {"np.maximum(norm, radius)": "radius"},
        killer="audit/test_checks_rows.py::test_corner_rows_move_every_statistic_by_at_most_its_sensitivity",
    ),
    mutant(
        "moments-of-one-column",
        "second moments of many columns have the sensitivity of one",
        "queries.moments:Variances.sensitivity",
        {"neighbours is Neighbours.ADD_REMOVE or self.size == 1": "True"},
        killer="audit/test_checks_rows.py::test_corner_rows_move_every_statistic_by_at_most_its_sensitivity",
    ),
    mutant(
        "ball-rounded-outwards",
        "rows in a ball are rounded to the nearest lattice point, not toward the middle: some leave the ball",
        "private.lattice:snapped",
        {"np.trunc(scaled, out=scaled)": "np.rint(scaled, out=scaled)"},
        killer="property/test_lattice.py::test_the_ball_holds_in_integers",
    ),
    mutant(
        "outside-taken-for-inside",
        "rows beyond the bounds are taken for rows between them, and get lattice points beyond the lattice",
        "private.lattice:_quickly",
        {"~(np.abs(scaled) <= 1.0).all(axis=0)": "np.isnan(scaled).any(axis=0)"},
        killer="property/test_lattice.py::test_nan_goes_to_the_middle_and_infinities_to_the_edge",
    ),
    mutant(
        "clipping-left-out",
        "rows outside the bounds are not moved into them",
        "private.lattice:snapped",
        {"np.clip(scaled, -1.0, 1.0, out=scaled)": "np.clip(scaled, -1.5, 1.5, out=scaled)"},
        killer="property/test_lattice.py::test_nan_goes_to_the_middle_and_infinities_to_the_edge",
    ),
    mutant(
        "scale-beyond-the-cube",
        "a column that counts three times is three times as long on the lattice: rows leave the cube that noise is for",
        "geo.metric:measured",
        {"scale=tuple(each / most for each in counts)": "scale=tuple(counts)"},
        killer="unit/geo/test_metric.py::test_rows_stay_in_the_part_of_the_cube_that_their_column_takes[3]",
    ),
    mutant(
        "flag-after-clipping",
        "rows are asked whether they are outside the bounds after they were moved inside",
        "private.lattice:snapped",
        {
            "np.clip(scaled, -1.0, 1.0, out=scaled)": (
                "np.clip(scaled, -1.0, 1.0, out=scaled)\n            inside = (np.abs(scaled) <= edge).all(axis=0)"
            )
        },
        killer=ROWS + "test_rows_outside_the_bounds_are_counted_and_rows_on_them_are_not[box]",
    ),
    mutant(
        "nan-counts-as-inside",
        "a row with a missing value, which is moved to the middle, is not counted as outside",
        "private.lattice:snapped",
        {"(np.abs(scaled) <= edge).all(axis=0)": "~(np.abs(scaled) > edge).any(axis=0)"},
        killer=ROWS + "test_rows_outside_the_bounds_are_counted_and_rows_on_them_are_not[ball]",
    ),
    mutant(
        "replaced-row-in-one-count",
        "a replaced row is taken to be in one of the counts inside and outside, though it may leave one for the other",
        "queries.counts:InsideOutside.sensitivity",
        {"one_unit(neighbours)": "one_unit(Neighbours.ADD_REMOVE)"},
        killer=ROWS + "test_corner_rows_move_every_statistic_by_at_most_its_sensitivity",
    ),
    mutant(
        "clipped-rows-like-others",
        "of a person's rows at one lattice point, the order of the table says whether one that was outside is kept",
        "private.narrowed.names:Names.rows",
        {"pairs[0] ^= block.outside * FLAG": "pass"},
        killer="unit/private/test_capped_people.py::test_rows_outside_are_kept_by_their_values_and_never_by_their_order",
    ),
    mutant(
        "bounds-of-the-data",
        "columns are scaled by the largest value in the data, not by the public bounds",
        "private.lattice:_quickly",
        {
            "scaled /= np.array(domain.half)[:, None]": (
                "scaled /= np.array(domain.half)[:, None]; scaled /= np.abs(scaled).max(initial=1e-300)"
            )
        },
        killer="audit/test_checks_rows.py::test_a_row_becomes_the_same_integers_whoever_else_is_there",
    ),
    mutant(
        "nan-raises",
        "a NaN in the rows is an error: it tells that somebody has one",
        "private.lattice:snapped",
        {
            "np.copyto(scaled, 0.0, where=is_missing(scaled))": (
                "if is_missing(scaled).any():\n            raise ValueError('NaN in the data')"
            )
        },
        killer="property/test_lattice.py::test_nan_goes_to_the_middle_and_infinities_to_the_edge",
        dies_of=("ValueError",),
    ),
    mutant(
        "distances-in-floats",
        "distances are computed in 32-bit floats: who is nearest depends on rounding and batch",
        "queries.voronoi:exact_scores",
        {
            "(-2.0 * centres) @ rows.astype(np.float64, copy=False)": (
                "(-2.0 * centres).astype(np.float32) @ rows.astype(np.float32)"
            )
        },
        killer="property/test_lattice.py::test_nearest_is_exact_at_the_largest_coordinates",
    ),
    mutant(
        "float-sums",
        "sums are added up in 32-bit floats: they depend on the order of the rows",
        "queries.voronoi:sums_by_label",
        {
            "return np.stack(sums, axis=1).astype(np.int64)": (
                "return np.stack([np.float32(each) for each in sums], axis=1).astype(np.int64)"
            )
        },
        killer="audit/test_checks_rows.py::test_sums_are_those_of_whole_numbers_in_any_order",
    ),
    mutant(
        "unstable-ties",
        "which of equally near rows leave is left to argpartition",
        "private.cells:dropped_rows",
        {
            'there = there[np.argsort(distances[there], kind="stable")]': (
                "there = there[np.argpartition(distances[there], len(there) // 2)]"
            )
        },
        killer="unit/queries/test_ball_queries.py::test_dropping_by_bins_drops_what_sorting_drops",
    ),
    mutant(
        "drops-by-distance",
        "all rows as near as the last one leave: how many is a matter of values",
        "private.cells:dropped_rows",
        {"dropped[there] = np.clip(how_many - done, 0, counts[there])": "dropped[there] = counts[there]"},
        killer="unit/private/test_cells.py::test_dropping_keeps_every_pair_of_neighbours_neighbours[1]",
    ),
    mutant(
        "drops-a-share",
        "half of the rows that there are leave, not a public number of them",
        "private.cells:CellEngine.drop_nearest",
        {"counts, how_many)": "counts, int(counts.sum()) // 2)"},
        killer="unit/private/test_cells.py::test_dropping_keeps_every_pair_of_neighbours_neighbours[1]",
    ),
    mutant(
        "blocks-in-sequence",
        "blocks are runs of consecutive rows: one more row shifts all that follow",
        "private.engines.rows:RowEngine.block_outputs",
        {
            "(source.words(count, np.uint64) % np.uint64(query.blocks)).astype(np.uint32)": (
                "(np.arange(count) * query.blocks // max(1, count)).astype(np.uint32)"
            )
        },
        killer="audit/test_checks_rows.py::test_one_more_row_touches_one_block",
    ),
    mutant(
        "blocks-drawn-for-each-lot",
        "blocks that are made some at a time draw their rows anew each time: one person is in several",
        "private.engines.rows:RowEngine.block_outputs",
        {
            "        mine = (block >= first) & (block < beyond)": (
                "        block = (source.words(count, np.uint64) % np.uint64(query.blocks)).astype(np.uint32)\n"
                "        mine = (block >= first) & (block < beyond)"
            )
        },
        killer="engines/test_contract.py::test_blocks_are_the_same_however_many_are_made_at_a_time[gkm]",
    ),
    mutant(
        "row-in-two-blocks",
        "a row's second block is drawn anew, so that one person touches two blocks",
        "queries.blocks:BlockCentres.outputs",
        {
            "order = np.lexsort((shuffle, block))": (
                "rows, block = np.tile(rows, 2), np.concatenate([block, (block + 1) % self.blocks])\n"
                "    order = np.lexsort((np.tile(shuffle, 2), block))"
            )
        },
        killer="audit/test_checks_rows.py::test_one_more_row_touches_one_block",
    ),
    mutant(
        "covered-rows-come-back",
        "rows that a pick covered count again at the next radius",
        "private.covers:cover",
        {"left = left[:, state.stay()]": "pass"},
        killer="audit/test_checks_rows.py::test_a_covered_row_never_counts_again",
    ),
    mutant(
        "covered-rows-stay",
        "rows that a pick covered stay for the next pick of the same radius",
        "private.covers:cover",
        {"state.remove(place)": "pass"},
        killer="audit/test_checks_rows.py::test_a_covered_row_never_counts_again",
    ),
    mutant(
        "scaled-beyond-the-cube",
        "a column that counts twice takes twice the lattice, but sensitivities are of rows in its cube",
        "geo.metric:measured",
        {"each / most for each in counts": "each for each in counts"},
        killer="unit/geo/test_metric.py::test_a_column_counts_as_many_times_as_is_said",
    ),
    mutant(
        "cover-stops-early",
        "max cover stops picking when no rows are left",
        "private.covers:cover",
        {
            "place = state.pick(source)": (
                "if not state.rows:\n                break\n            place = state.pick(source)"
            )
        },
        killer="audit/test_checks_rows.py::test_as_many_points_are_picked_as_planned_whatever_is_left",
    ),
)

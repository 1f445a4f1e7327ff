"""Bugs in algorithms and in what a fit leaves behind: exact numbers that decide something or are handed out."""

from mutants.planting import mutant

REPLAY = "audit/test_checks_replay.py::test_released_values_decide_everything"
KEPT = "unit/test_estimator.py::test_nothing_derived_from_rows_without_noise_is_kept[lloyd]"
LISTED = "unit/test_what_leaves_table.py::test_every_field_that_leaves_is_listed"
PUBLIC = "unit/test_what_leaves_table.py::test_public_fields_are_the_same_for_other_rows_and_fresh_ones_never"
CANARY = "unit/test_canary.py::test_no_algorithm_keeps_the_canary[lloyd-add-remove]"
FORMS = "unit/algorithms/test_lloyd_forms.py::"
SPLITS = "unit/algorithms/test_splits.py::"
CHARGED = "property/test_charge_then_release.py::"

MUTANTS = (
    mutant(
        "exact-n",
        "the exact number of rows is used where a paper says n (Su et al. 2016, IPSN'17, AAAI'21)",
        "algorithms.kit:noisy_size",
        {
            "inside, outside = curator.release(InsideOutside(curator.domain), noise).tolist()": (
                "curator.release(InsideOutside(curator.domain), noise)\n"
                "        inside, outside = curator._engine.total(InsideOutside(curator.domain)).tolist()"
            )
        },
        killer="audit/test_checks_door.py::test_a_noisy_number_of_rows_is_noisy",
    ),
    mutant(
        "exact-n-sets-rounds",
        "the number of genetic rounds comes from the exact number of rows",
        "algorithms.genetic:genetic",
        {
            "int(rate * size * float(left) / parents)": (
                "8 + int(curator._engine.total(__import__('covey.queries.counts', fromlist=['x']).Count(curator.dom"
                "ain))[0]) % 3"
            )
        },
        killer=REPLAY + "[genetic]",
    ),
    mutant(
        "empty-cluster-skipped",
        "a cluster that has no rows keeps its centre, which tells that it has none",
        "algorithms.lloyd:one_round",
        {
            "return clusters.means(noisy.sums), noisy.counts": (
                "empty = curator._engine.total(clusters).reshape(len(centres), -1)[:, -1] == 0\n"
                "    return np.where(empty[:, None], clusters.centres, clusters.means(noisy.sums)), noisy.counts"
            )
        },
        killer=REPLAY + "[lloyd]",
    ),
    mutant(
        "stops-when-settled",
        "lloyd stops when the exact counts no longer change",
        "algorithms.lloyd:lloyd",
        {
            "centres, sizes = one_round(curator, centres, each)": (
                "before = curator._engine.total(VoronoiSums(centres, curator.domain))\n"
                "        centres, sizes = one_round(curator, centres, each)\n"
                "        if before[-1] % (2 * curator.domain.limit):\n"
                "            break"
            )
        },
        killer=REPLAY + "[lloyd]",
    ),
    mutant(
        "branch-by-exact-rows",
        "whether hybrid makes its round follows the exact number of rows",
        "algorithms.hybrid:hybrid",
        {
            "rows = max(1, size)": (
                "rows = max(1, int(curator._engine.total(__import__('covey.queries.counts', fromlist=['x']).Count("
                "curator.domain))[0]))"
            )
        },
        killer="unit/algorithms/test_algorithms.py::test_hybrid_takes_its_branch_from_the_noisy_number_of_rows_alone",
    ),
    mutant(
        "shares-by-exact-rows",
        "how the rounds of lloyd share the budget follows whether there are any rows",
        "algorithms.lloyd:lloyd",
        {
            "    drawn[0].check(": (
                "    if curator._engine.total(first).any():\n        drawn = drawn[::-1]\n    drawn[0].check("
            )
        },
        killer=FORMS + "test_rows_decide_no_share[laplace-increasing]",
    ),
    mutant(
        "gaussian-rounds-each-pay-once",
        "every Gaussian round of lloyd is as sharp as if it were the only one",
        "algorithms.lloyd:gaussian_rounds",
        {
            "shares=parts, epsilon=epsilon, delta=delta)": (
                "shares=parts[:1], epsilon=epsilon, delta=delta) * len(parts)"
            )
        },
        killer=FORMS + "test_gaussian_rounds_are_one_plan_within_the_budget_and_hardly_below_it[even-add-remove]",
        dies_of=("BudgetError",),
    ),
    mutant(
        "rounds-keep-what-the-mean-took",
        "the rounds of auto get what was left before the means got more",
        "algorithms.auto.shares:pure_shares",
        {"    rest = 98 - sum(parts.values())\n    rounds = ": "    rounds = "},
        killer=SPLITS + "test_where_rounds_are_noisy_the_means_get_what_their_own_noise_asks_for",
    ),
    mutant(
        "sizes-exact",
        "the sizes of a release are the exact counts",
        "algorithms.lloyd:one_round",
        {
            "return clusters.means(noisy.sums), noisy.counts": (
                "return clusters.means(noisy.sums), clusters.counts(curator._engine.total(clusters))"
            )
        },
        killer=REPLAY + "[lloyd]",
    ),
    mutant(
        "empty-cells-dropped",
        "noise on empty cells is taken off again",
        "algorithms.grid:from_cells",
        {
            "counted = count_cells(curator, cells, noise)": (
                "from covey.queries.counts import CellCounts\n"
                "    counted = count_cells(curator, cells, noise)\n"
                "    if counted.keys is None:\n"
                "        there = curator._engine.total(CellCounts(cells)) > 0\n"
                "        counted = replace(counted, noisy=np.where(there, counted.noisy, 0.0))"
            )
        },
        killer=REPLAY + "[grid]",
    ),
    mutant(
        "leaves-exact",
        "the leaves of a tree are counted in the pass that grew it, without noise",
        "algorithms.auto.synopsis:counted",
        {
            "count_leaves_of(curator, leaves, noise)": (
                "__import__('covey.post.zones').post.zones.KeptCounts(curator._engine.total(leaves).astype(float), 1.0)"
            )
        },
        killer=REPLAY + "[auto]",
    ),
    mutant(
        "look-exact",
        "whether rows fill the box evenly is judged by exact counts",
        "algorithms.auto.low:_looks_even",
        {
            "counts = curator.release(CellCounts(Grid(curator.domain, LOOK_CELLS)), noise)": (
                "curator.release(CellCounts(Grid(curator.domain, LOOK_CELLS)), noise)\n"
                "    counts = curator._engine.total(CellCounts(Grid(curator.domain, LOOK_CELLS)))"
            )
        },
        killer="unit/algorithms/test_auto_budgets.py::test_what_decides_between_grid_and_tree_is_released",
    ),
    mutant(
        "mean-or-clusters-by-exact-rows",
        "whether rows are too few for clusters is judged by their exact number",
        "algorithms.auto.one_mean:too_few",
        {
            "rows = inside + (outside if outside > OUTSIDE * scale else 0)": (
                "rows = int(curator._engine.total(__import__('covey.queries.counts', fromlist=['x']).Count("
                "curator.domain))[0])"
            )
        },
        killer="unit/algorithms/test_auto_one_mean.py::test_released_values_alone_decide_between_mean_and_clusters",
    ),
    mutant(
        "mean-takes-what-the-tree-took",
        "after a tree that did not split, the mean has less noise than it pays for: the tree's share is spent twice",
        "algorithms.auto.one_mean:one_mean",
        {
            "noisy = curator.release(query, noise)": (
                "curator._reserve.draw(noise.event(), why='a mean')\n"
                "    more = RadialLaplace(noise.epsilon * 5 / 3) if isinstance(noise, RadialLaplace) else noise\n"
                "    exact, moves = curator._engine.total(query), query.sensitivity(curator.neighbours)\n"
                "    noisy = more.add(exact, moves, curator._source)"
            )
        },
        killer="unit/algorithms/test_auto_one_mean.py::test_the_mean_is_asked_for_with_the_noise_that_is_planned",
    ),
    mutant(
        "weights-of-a-cell-exact",
        "w*(z) of STOC'09 as printed: the weights around a centre add up to its exact number of rows",
        "algorithms.net_coreset:_around",
        {"own = totals - np.bincount(": "own = curator._engine.total(per_centre) - np.bincount("},
        killer="unit/algorithms/test_net_coreset.py::test_our_weights_of_a_cell_add_up_to_a_noisy_number[add-remove]",
    ),
    mutant(
        "ball-takes-what-is-there",
        "as many rows leave with a ball as there are in it, not a public number",
        "algorithms.ball_coreset:one_part",
        {
            "cells = cells.drop_nearest(centre, rows)": (
                "cells = cells.drop_nearest(centre, rows if sum(cells._engine.cells(grid)[1]) % 2 else 0)"
            )
        },
        killer=REPLAY + "[ball-coreset]",
    ),
    mutant(
        "squares-about-exact-means",
        "squares are about the exact means of the balls' rows, not about the centres that were found privately",
        "algorithms.recount:recount",
        {
            "NearestSquares(centres, curator.domain)": (
                "NearestSquares(VoronoiSums(centres, curator.domain).means("
                "curator._engine.total(VoronoiSums(centres, curator.domain))), curator.domain)"
            )
        },
        killer=REPLAY + "[ball-coreset]",
    ),
    mutant(
        "cover-of-the-exact-number",
        "max cover's radii come from the exact number of rows",
        "algorithms.max_cover:max_cover",
        {
            "size, _, told = learn_size(curator, epsilon)": (
                "size, _, told = learn_size(curator, epsilon)\n"
                "    size = 16 + int(curator._engine.total(__import__('covey.queries.counts', fromlist=['x'])"
                ".Count(curator.domain))[0])"
            )
        },
        killer=REPLAY + "[max-cover]",
    ),
    mutant(
        "last-round-tells-the-rows",
        "jl-candidates makes its last round if the exact number of rows is even",
        "algorithms.jl_candidates:jl_candidates",
        {
            "for means in rounds[1:]:": (
                "for means in rounds[1:][int(curator._engine.total(__import__('covey.queries.counts', fromlist=['x'])"
                ".Count(curator.domain))[0]) % 2 :]:"
            )
        },
        killer="audit/test_checks_averages.py::test_averages_ask_the_same_of_neighbours_and_move_no_further_than_they_say"
        "[add-remove-sums-DiscreteGaussian-True]",
        dies_of=("Diverged",),
    ),
    mutant(
        "delta-for-every-average",
        "each average of jl-candidates gets all of delta",
        "algorithms.jl_candidates:share_out",
        {"each = delta / len(parts[3:])": "each = delta"},
        killer="unit/algorithms/test_jl_candidates.py::test_the_parts_of_epsilon_and_delta_never_exceed_them[100-l2-True]",
    ),
    mutant(
        "rounds-tell-the-rows",
        "ball-coreset takes as many balls as the exact number of rows allows",
        "algorithms.ball_coreset:ball_coreset",
        {
            "size, left, told = learn_size(curator, epsilon)": (
                "size, left, told = learn_size(curator, epsilon)\n"
                "    size = int(curator._engine.total(__import__('covey.queries.counts', fromlist=['x'])"
                ".Count(curator.domain))[0])"
            )
        },
        killer=REPLAY + "[ball-coreset]",
    ),
    mutant(
        "checked-after-the-charge",
        "exact-coreset counts its candidates after the charge: what it refuses is paid for",
        "algorithms.exact_coreset:exact_coreset",
        {
            "_side(side, dimension=curator.domain.dimension, points=points, centres=k)": "2",
            "size = min(size, 2**36)": (
                "size = min(size, 2**36)\n    grid = Grid(curator.domain, _side(side, "
                "dimension=curator.domain.dimension, points=points, centres=k))"
            ),
        },
        killer=CHARGED + "test_what_an_algorithm_refuses_is_refused_before_the_charge",
    ),
    mutant(
        "balls-refused-after-the-charge",
        "ball-coreset refuses too few rows, which it knows after the charge",
        "algorithms.ball_coreset:ball_coreset",
        {
            "    plan, picks, counting = make_plan(": (
                "    if len(sizes) < k:\n"
                "        raise ParameterError('n_clusters', 'are more than there are rows for')\n"
                "    plan, picks, counting = make_plan("
            )
        },
        killer="unit/algorithms/test_ball_coreset.py::test_a_ball_coreset_that_is_charged_is_released",
        dies_of=("ParameterError",),
    ),
    mutant(
        "noise-too-large-to-draw",
        "Gaussian noise beyond what can be drawn is planned for averages, and refused after the charge",
        "algorithms.max_cover:means_of",
        {" <= squares <= LARGEST_VARIANCE": " <= squares"},
        killer="unit/algorithms/test_max_cover.py::test_what_is_paid_for_can_be_drawn_however_small_epsilon_is",
        dies_of=("ParameterError",),
    ),
    mutant(
        "warning-after-the-charge",
        "whoever shows warnings in another way, and fails at it, stops a fit that is paid for",
        "fit.caution:warn_after",
        {"suppress(Exception)": "suppress(PrivacyWarning)"},
        killer="unit/fit/test_caution.py::"
        "test_whoever_shows_warnings_in_another_way_and_fails_at_it_stops_no_paid_release",
    ),
    mutant(
        "learning-unnamed",
        "a step before Covey of which scikit-learn says nothing is taken to learn nothing from the rows",
        "fit.pipelines:_has_to_be_fitted",
        {"return True": "return False"},
        killer="unit/fit/test_pipelines.py::test_what_learns_is_named_with_the_way_to_do_without",
    ),
    mutant(
        "replaced-without-force",
        "a new release replaces the file of one that was paid for",
        "cli.options:check_outputs",
        {"target.exists() and not force": "False"},
        killer="unit/cli/test_cli_overwriting.py::test_the_file_of_a_paid_release_stays",
    ),
    mutant(
        "numpy-decides",
        "the caller's numpy settings are in force behind the door: values of rows decide whether it raises",
        "fit.fit:fit",
        {'with np.errstate(all="ignore"), one_blas_thread():': "with one_blas_thread():"},
        killer=CHARGED + "test_strict_numpy_settings_are_not_in_force_behind_the_door",
        dies_of=("RuntimeError",),
    ),
    mutant(
        "numpy-decides-after-a-callback",
        "numpy settings that a callback made are in force behind the door",
        "private.curator:_Desk.step",
        {"with np.errstate():": "if True:"},
        killer=CHARGED + "test_numpy_settings_of_a_callback_are_not_in_force_behind_the_door",
        dies_of=("FloatingPointError",),
    ),
    mutant(
        "release-lost-with-the-disk",
        "a release that the ledger could not store is thrown away, although it is paid for",
        "fit.session:Session.finish",
        {"error.release = made if self._stands(self._receipt) else None": "pass"},
        killer=CHARGED + "test_a_full_disk_refuses_before_the_charge_or_hands_the_release_out",
    ),
    mutant(
        "handed-out-unpaid",
        "a release is handed out although its charge is gone from the ledger",
        "fit.session:Session._stands",
        {"return disk_failed(error)": "return True"},
        killer=CHARGED + "test_what_is_no_longer_charged_is_not_handed_out",
    ),
    mutant(
        "idle-delta-charged",
        "a delta that no plan can use is charged and certified",
        "fit.request:Request.without_idle_delta",
        {"return replace(self, delta=Fraction(0))": "return self"},
        killer="unit/algorithms/test_unused_delta.py::test_a_delta_that_no_plan_can_use_is_neither_charged_nor_certified",
        dies_of=("BudgetError",),
    ),
    mutant(
        "notes-tell-the-rows",
        "the certificate's notes tell the exact number of rows",
        "algorithms.lloyd:lloyd",
        {
            '{"rounds": rounds, "start": start,': (
                '{"rounds": rounds, "start": start, "rows": sum(b.shape[1] for b in curator._engine.rows()),'
            )
        },
        killer=CANARY,
    ),
    mutant(
        "labels-kept",
        "the estimator keeps labels_",
        "estimators.clusterers:_Clusterer.fit",
        {"return self": "self.labels_ = self.predict(X); return self"},
        killer=KEPT,
    ),
    mutant(
        "inertia-kept",
        "the estimator keeps inertia_, the exact cost of the rows",
        "estimators.clusterers:_Clusterer.fit",
        {"return self": "self.inertia_ = float((self.transform(X).min(axis=1) ** 2).sum()); return self"},
        killer=KEPT,
    ),
    mutant(
        "rows-kept",
        "the estimator keeps the rows that it was fitted to",
        "estimators.clusterers:_Clusterer.fit",
        {"return self": "self._rows = X; return self"},
        killer=CANARY,
    ),
    mutant(
        "rows-counted",
        "the estimator keeps the number of rows",
        "estimators.clusterers:_Clusterer.fit",
        {"return self": "self.n_samples_seen_ = len(X); return self"},
        killer=KEPT,
    ),
    mutant(
        "seed-in-production",
        "without a random_state all noise comes from seed 0, and the certificate does not say so",
        "fit.session:Session.__init__",
        {
            "OsSource() if seed is None else SeededSource(seed)": (
                "type('Unmarked', (SeededSource,), {'seeded': seed is not None})(seed or 0)"
            )
        },
        killer="audit/test_checks_budget.py::test_without_a_seed_no_two_fits_have_the_same_noise",
    ),
    mutant(
        "seed-unmarked",
        "the certificate of a seeded release does not say so",
        "fit.fit:run",
        {"seeded = session.source.seeded": "seeded = False"},
        killer="unit/test_estimator.py::test_a_seed_repeats_and_says_so",
    ),
    mutant(
        "certificate-without-delta",
        "the certificate leaves out delta",
        "fit.certify:certify",
        {"delta=float_at_least(request.delta)": "delta=0.0"},
        killer="unit/algorithms/test_auto.py::test_certificates_say_what_was_promised",
    ),
    mutant(
        "certificate-of-the-other-relation",
        "the certificate always says add/remove",
        "fit.certify:certify",
        {"neighbours=str(request.neighbours)": "neighbours='add-remove'"},
        killer="audit/test_checks_budget.py::test_a_certificate_says_what_was_asked_for",
    ),
    mutant(
        "certificate-epsilon-of-a-row",
        "the certificate of a fit to a sample says an epsilon that it does not keep",
        "fit.certify:certify",
        {"epsilon=float_at_least(request.epsilon)": "epsilon=float_at_least(request.epsilon) / 2"},
        killer="audit/test_checks_budget.py::test_a_certificate_says_what_was_asked_for",
    ),
    mutant(
        "key-without-bounds",
        "an idempotency key is not bound to the bounds",
        "fit.request:Request.fingerprint",
        {'"domain": [domain.ball, *zip(domain.middle, domain.half, strict=True)],': ""},
        killer="audit/test_checks_budget.py::test_a_key_is_bound_to_every_parameter",
    ),
    mutant(
        "key-without-relation",
        "an idempotency key is not bound to the relation",
        "fit.request:Request.fingerprint",
        {'"neighbours": str(self.neighbours),': ""},
        killer="audit/test_checks_budget.py::test_a_key_is_bound_to_every_parameter",
    ),
    mutant(
        "key-without-epsilon",
        "an idempotency key is not bound to epsilon",
        "fit.request:Request.fingerprint",
        {'"epsilon": str(self.epsilon),': ""},
        killer="audit/test_checks_budget.py::test_a_key_is_bound_to_every_parameter",
    ),
    mutant(
        "zones-of-people-left-out",
        "what zones were charged holds for people whom another missing= had in none",
        "fit.zones:Thinning.promises",
        {"missing == MIDDLE or whole.unit is None": "True"},
        killer="unit/budget/test_promise.py::test_zones_of_people_are_of_the_rows_that_are_left",
    ),
    mutant(
        "key-without-missing",
        "an idempotency key is not bound to what becomes of missing values",
        "fit.request:Request.fingerprint",
        {"{} if self.missing == MIDDLE else": "{} if True else"},
        killer="audit/test_checks_budget.py::test_a_key_is_bound_to_every_parameter",
    ),
    mutant(
        "key-without-scale",
        "an idempotency key is not bound to how much columns count",
        "fit.request:Request.fingerprint",
        {"{} if domain.scale is None else": "{} if True else"},
        killer="audit/test_checks_budget.py::test_a_key_is_bound_to_every_parameter",
    ),
    mutant(
        "seeded-release-published",
        "the command line publishes a seeded release without being asked to",
        "cli.fit:check_charged",
        {"if options.seed is not None and outputs and not options.allow_seeded:": "if False:"},
        killer="unit/cli/test_cli.py::test_seeded_may_be_written_on_demand_and_says_so",
    ),
    mutant(
        "certificate-counts-rows",
        "a certificate has one more field: the exact number of rows",
        "fit.fit:run",
        {
            "seeded = session.source.seeded": (
                "seeded = session.source.seeded\n"
                "    outcome = replace(outcome, notes={**outcome.notes, 'rows': table.rows()})"
            )
        },
        killer=LISTED + "[grid, k-means, add-remove]",
    ),
    mutant(
        "certificate-tells-the-time",
        "a certificate has one more field: when the rows had been read",
        "fit.certify:certify",
        {"**request.parameters, **notes}": "**request.parameters, **notes, 'made': __import__('time').time()}"},
        killer=LISTED + "[grid, k-means, add-remove]",
    ),
    mutant(
        "publication-tells-the-time",
        "the folder of a publication holds the time when it was made",
        "studio.publications:Publications.add",
        {'"level": level,': '"level": level, "time": datetime.now(UTC).isoformat(),'},
        killer=LISTED + "[studio]",
    ),
    mutant(
        "public-field-by-rows",
        "a field that is listed as public follows the number of rows",
        "fit.fit:run",
        {"dataset=dataset, receipt": "dataset=f'{table.rows()} rows', receipt"},
        killer=PUBLIC + "[grid, k-means, add-remove]",
    ),
    mutant(
        "points-in-the-order-of-rows",
        "which row comes first decides the order of the centres",
        "fit.fit:run",
        {
            "seeded = session.source.seeded": (
                "seeded = session.source.seeded\n"
                "    if next(iter(table.pieces(None)))().flat[0] > 0:\n"
                "        outcome = replace(outcome, centres=outcome.centres[::-1])"
            )
        },
        killer="unit/test_what_leaves_table.py::test_the_order_of_rows_changes_no_byte[lloyd]",
    ),
)

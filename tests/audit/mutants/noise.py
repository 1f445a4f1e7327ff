"""Bugs in the noise: too little of it, the wrong law, the same twice."""

from mutants.planting import mutant

FIT = "statistical/test_noise_fit.py::"
MECHANISMS = "unit/noise/test_mechanisms.py::"
TREE = "unit/noise/test_tree_noise.py::"
AGAIN = "test_noise_is_drawn_again_exactly_where_it_would_not_have_split_the_parent"
COVER = "unit/algorithms/test_max_cover.py::"

MUTANTS = (
    mutant(
        "laplace-narrow",
        "Laplace noise a tenth too small",
        "noise.laplace:discrete_laplace",
        {"_wheels(inverse_scale)": "_wheels(inverse_scale * 11 / 10)"},
        killer=FIT + "test_noise_has_the_promised_scale_and_this_test_can_tell[laplace-10]",
    ),
    mutant(
        "laplace-mechanism-narrow",
        "the mechanism asks for Laplace noise a tenth too small, and is charged as if it did not",
        "noise.mechanisms:DiscreteLaplace.add",
        {"self.epsilon / sensitivity.l1": "self.epsilon * 11 / 10 / sensitivity.l1"},
        killer=MECHANISMS + "test_laplace_noise_has_the_scale_of_the_l1_sensitivity",
    ),
    mutant(
        "laplace-of-the-largest-change",
        "Laplace noise scaled to the largest single change, not to their sum",
        "noise.mechanisms:DiscreteLaplace.add",
        {"sensitivity.l1": "sensitivity.linf"},
        killer=MECHANISMS + "test_laplace_noise_has_the_scale_of_the_l1_sensitivity",
    ),
    mutant(
        "laplace-truncated",
        "Laplace noise drawn as a float and cut off by int(), as the code of AAAI'21 does",
        "noise.laplace:discrete_laplace",
        {
            "_fill(flat[start : start + _BLOCK], wheels, source)": (
                "words = source.words(2 * len(flat[start : start + _BLOCK]), np.uint64).reshape(2, -1) / 2.0**64; "
                "flat[start : start + _BLOCK] = np.trunc(np.log((1 - words[0]) / (1 - words[1])) / float(inverse_sc"
                "ale))"
            )
        },
        killer=FIT + "test_noise_has_the_promised_scale_and_this_test_can_tell[laplace-1]",
    ),
    mutant(
        "laplace-of-floats",
        "wide Laplace noise drawn as a 32-bit float: its low bits are holes (Mironov 2012)",
        "noise.laplace:discrete_laplace",
        {"return noise": "return noise.astype(np.float32).astype(np.int64)"},
        killer=FIT + "test_the_low_bits_of_wide_noise_are_uniform[laplace]",
    ),
    mutant(
        "laplace-one-sided",
        "the far tail of Laplace noise is cut off",
        "noise.laplace:_fill",
        {"beyond = np.flatnonzero(digits == wheel.size)": "beyond = np.empty(0, dtype=np.int64)"},
        killer="unit/noise/test_laplace.py::test_the_tail_beyond_the_wheels_goes_on_with_a_fresh_digit",
    ),
    mutant(
        "one-noise-for-all",
        "all numbers of a statistic get the same noise, so that their differences are exact",
        "noise.mechanisms:DiscreteLaplace.add",
        {"noise = discrete_laplace(numbers.shape,": "noise = np.zeros_like(numbers) + discrete_laplace((),"},
        killer=MECHANISMS + "test_laplace_noise_has_the_scale_of_the_l1_sensitivity",
    ),
    mutant(
        "no-noise-on-nothing",
        "numbers that are 0 get no noise: empty clusters and cells can be told (diffprivlib's k-means)",
        "noise.mechanisms:DiscreteLaplace.add",
        {"return np.add(numbers, noise, out=noise)": "return np.where(numbers == 0, 0, numbers + noise)"},
        killer=MECHANISMS + "test_laplace_noise_has_the_scale_of_the_l1_sensitivity",
    ),
    mutant(
        "one-count-exact",
        "the last number of a statistic is left exact",
        "noise.mechanisms:DiscreteLaplace.add",
        {
            "return np.add(numbers, noise, out=noise)": (
                "noise.reshape(-1)[-1:] = 0; return np.add(numbers, noise, out=noise)"
            )
        },
        killer=MECHANISMS + "test_laplace_noise_has_the_scale_of_the_l1_sensitivity",
    ),
    mutant(
        "noise-kept-positive",
        "noisy numbers below 0 are set to 0 before the sum wraps: counts near 0 show where nobody is",
        "noise.mechanisms:DiscreteLaplace.add",
        {"return np.add(numbers, noise, out=noise)": "return np.where(numbers + noise < 0, numbers, numbers + noise)"},
        killer=MECHANISMS + "test_laplace_noise_has_the_scale_of_the_l1_sensitivity",
    ),
    mutant(
        "radial-narrow",
        "noise by length a tenth too small",
        "noise.radial:radial_laplace",
        {"    check_rate(rate, size)\n": "    check_rate(rate, size)\n    rate = rate * 11 / 10\n"},
        killer=FIT + "test_noise_has_the_promised_scale_and_this_test_can_tell[radial-20-numbers]",
    ),
    mutant(
        "radial-mechanism-narrow",
        "the mechanism asks for noise by length a tenth too small, and is charged as if it did not",
        "noise.mechanisms:RadialLaplace.rate",
        {"self.epsilon / sensitivity.l2_by_block": "self.epsilon * 11 / 10 / sensitivity.l2_by_block"},
        killer=MECHANISMS + "test_noise_by_length_has_the_rate_of_the_blocks",
    ),
    mutant(
        "radial-every-proposal",
        "noise by length keeps every proposal of the right spread: its law has steps where spreads meet",
        "noise.radial:coin_bounds",
        {"    product =": "    return 1 << bits, 1 << bits\n    product ="},
        killer="unit/noise/test_radial.py::test_the_coin_of_a_length[square2]",
    ),
    mutant(
        "gaussian-narrow",
        "Gaussian noise a tenth too small",
        "noise.gaussian:discrete_gaussian",
        {"    scale = isqrt(": "    variance = variance * 100 / 121\n    scale = isqrt("},
        killer=FIT + "test_noise_has_the_promised_scale_and_this_test_can_tell[gaussian-7.25]",
    ),
    mutant(
        "gaussian-of-one-number",
        "Gaussian noise scaled to the largest single change, not to the root of the sum of squares",
        "noise.mechanisms:DiscreteGaussian.add",
        {"self.multiplier**2 * sensitivity.l2_squared": "self.multiplier**2 * max(sensitivity.linf**2, 2**60)"},
        killer=MECHANISMS + "test_gaussian_noise_has_the_variance_of_the_l2_sensitivity",
    ),
    mutant(
        "gaussian-coarse",
        "Gaussian noise on integers too coarse for the proof is not refused",
        "noise.mechanisms:DiscreteGaussian.add",
        {"if variance < GAUSSIAN_VARIANCE_PER_NUMBER * numbers.size:": "if False:"},
        killer=MECHANISMS + "test_coarse_units_are_refused_for_gaussian_noise",
    ),
    mutant(
        "gaussian-discrete-for-free",
        "what discrete Gaussian noise costs beyond the continuous is not charged",
        "budget.accounting.accountant:_compose",
        {"epsilon + tally.gaussians * GAUSSIAN_EPSILON": "epsilon"},
        killer="unit/budget/test_accountant.py::test_every_gaussian_event_pays_for_being_discrete",
    ),
    mutant(
        "exponential-sharp",
        "the exponential mechanism a tenth too sharp",
        "noise.mechanisms:Exponential.pick",
        {"rate=self.epsilon / worst": "rate=self.epsilon * 11 / 10 / worst"},
        killer=MECHANISMS + "test_the_exponential_mechanism_uses_the_largest_change",
    ),
    mutant(
        "exponential-always-monotone",
        "the exponential mechanism takes all utilities to move in one direction",
        "noise.mechanisms:Exponential.pick",
        {"sensitivity.linf if sensitivity.monotone else 2 * sensitivity.linf": "sensitivity.linf"},
        killer=MECHANISMS + "test_the_exponential_mechanism_uses_the_largest_change",
    ),
    mutant(
        "choice-sharp-in-floats",
        "the quick path of a choice is a tenth too sharp",
        "noise.selection:_pick_by_floats",
        {"weights = np.exp(behind * -slope)": "weights = np.exp(behind * -slope * 1.1)"},
        killer="unit/noise/test_selection.py::test_both_paths_agree_with_brute_force_on_the_same_words[few]",
    ),
    mutant(
        "choice-of-the-best",
        "utilities far behind the best are dropped: an outcome that a neighbour can have becomes impossible",
        "noise.selection:_pick_exactly",
        {
            "exp_bounds(rate * int(distance), bits)": (
                "(exp_bounds(rate * int(distance), bits) if rate * int(distance) < 9 else (0, 0))"
            )
        },
        killer="unit/noise/test_selection.py::test_both_paths_agree_with_brute_force_on_the_same_words[best first]",
    ),
    mutant(
        "threshold-low",
        "keys are shown from one count below the threshold on",
        "noise.threshold:smallest_threshold",
        {"return linf + margin": "return linf + margin - 1"},
        killer=MECHANISMS + "test_tau_is_enough_and_one_less_is_not[4-2-3-delta0-epsilon0]",
    ),
    mutant(
        "threshold-for-one-key",
        "the threshold forgets that a person may hold several keys",
        "noise.threshold:_enough",
        {"(coordinates * (a + b) for": "((a + b) for"},
        killer=MECHANISMS + "test_tau_is_enough_and_one_less_is_not[4-2-3-delta0-epsilon0]",
    ),
    mutant(
        "threshold-delta-wide",
        "the threshold is a tenth too generous with delta",
        "noise.threshold:_enough",
        {"(delta * ((1 << bits) + q) for q in step)": "(delta * 11 / 10 * ((1 << bits) + q) for q in step)"},
        killer=MECHANISMS + "test_tau_is_enough_and_one_less_is_not[4-2-3-delta0-epsilon0]",
    ),
    mutant(
        "threshold-noise-narrow",
        "the noise of a thresholded histogram a tenth too small",
        "noise.mechanisms:ThresholdedLaplace.add_by_key",
        {"self.epsilon / sensitivity.l1": "self.epsilon * 11 / 10 / sensitivity.l1"},
        killer=FIT + "test_noise_has_the_promised_scale_and_this_test_can_tell[threshold]",
    ),
    mutant(
        "threshold-keys-in-row-order",
        "keys come out in the order in which the rows had them",
        "noise.mechanisms:ThresholdedLaplace.add_by_key",
        {"order = np.lexsort(columns.T[::-1])": "order = np.arange(len(keys))"},
        killer=MECHANISMS + "test_keys_come_out_in_ascending_order_whatever_the_order_of_rows",
    ),
    mutant(
        "tree-noise-drawn-narrow",
        "PrivTree draws noise a tenth too small",
        "noise.tree:PrivTree.splits",
        {"inverse_scale=Fraction(1, units.noise)": "inverse_scale=Fraction(11, 10 * units.noise)"},
        killer=(
            "statistical/test_tree_splits.py::test_split_probabilities_have_the_promised_scale_and_this_test_ca"
            "n_tell[1.0-True-epsilon0-4-0-add-remove]"
        ),
    ),
    mutant(
        "tree-noise-certified-narrow",
        "PrivTree's scale a tenth below what was certified",
        "noise.tree:smallest_noise",
        {
            "cost_of_a_row(fan_out, replace=replace) / (": (
                "cost_of_a_row(fan_out, replace=replace) * Fraction(10, 11) / ("
            )
        },
        killer=TREE + "test_the_worst_path_costs_at_most_epsilon_and_hardly_less[2-epsilon0]",
    ),
    mutant(
        "tree-scale-of-add-remove",
        "PrivTree's scale for add/remove, used where a row is replaced",
        "noise.tree:PrivTree.units",
        {"replace=neighbours is Neighbours.REPLACE_ONE": "replace=False"},
        killer="unit/noise/test_tree_noise.py::"
        "test_no_two_neighbours_differ_by_more_than_epsilon_on_any_tree[2-3-2-0-epsilon2]",
    ),
    mutant(
        "tree-bias-small",
        "PrivTree's bias per level half of what the proof needs: depth is no longer free",
        "noise.tree:above",
        {"depth * units.bias": "depth * units.bias // 2"},
        killer=TREE + "test_the_worst_path_costs_at_most_epsilon_and_hardly_less[2-epsilon0]",
    ),
    mutant(
        "tree-empty-node-stops",
        "an empty node of a tree never splits",
        "noise.tree:PrivTree.splits",
        {"low[first, np.arange(left.size)] > 0": "(low[first, np.arange(left.size)] > 0) & (counts[left] > 0)"},
        killer="statistical/test_tree_splits.py::test_an_empty_node_splits_once_in_twice_the_fan_out",
    ),
    mutant(
        "tree-noise-unconditioned",
        "noise that would not have split a node's parent is kept: depth is no longer free",
        "noise.tree:PrivTree.splits",
        {"fits.argmax(axis=0)": "np.zeros(left.size, dtype=np.intp)", "left[~fits.any(axis=0)]": "left[:0]"},
        killer="statistical/test_tree_splits.py::test_split_probabilities_have_the_promised_scale_and_this_test_ca"
        "n_tell[1.0-True-epsilon0-4-0-add-remove]",
    ),
    mutant(
        "tree-noise-again-narrow",
        "noise that is drawn again for a tree has half of the scale",
        "noise.tree:PrivTree.splits",
        {"Fraction(1, units.noise)": "Fraction(1 + (left.size < len(heights)), units.noise)"},
        killer=TREE + AGAIN,
    ),
    mutant(
        "tree-split-drawn-again",
        "noise by which a node would split by more than a level is drawn again, as if it were too little",
        "noise.tree:PrivTree.splits",
        {"fits = low > -units.bias": "fits = (low > -units.bias) & (low <= units.bias)"},
        killer=TREE + AGAIN,
    ),
    mutant(
        "tree-split-at-the-threshold",
        "a node splits at the threshold too, a unit below what the proof says",
        "noise.tree:PrivTree.splits",
        {"np.arange(left.size)] > 0": "np.arange(left.size)] >= 0"},
        killer=TREE + AGAIN,
    ),
    mutant(
        "tree-noise-at-the-edge",
        "noise that leaves a node's parent exactly at the threshold is kept",
        "noise.tree:PrivTree.splits",
        {"low > -units.bias": "low >= -units.bias"},
        killer=TREE + AGAIN,
    ),
    mutant(
        "tree-noise-best-of-tries",
        "of several tries of noise a node of a tree takes the largest, not the first that will do",
        "noise.tree:PrivTree.splits",
        {"fits.argmax(axis=0)": "low.argmax(axis=0)"},
        killer=TREE + AGAIN,
    ),
    mutant(
        "tree-noise-shared",
        "all nodes of a level share their noise",
        "noise.tree:PrivTree.splits",
        {"(tries, left.size)": "(tries, 1)"},
        killer=TREE + "test_each_node_has_tries_of_its_own[4096]",
    ),
    mutant(
        "tree-noise-of-the-neighbour",
        "every other node of a level has the noise of the one before it",
        "noise.tree:PrivTree.splits",
        {"noise + heights[left]": "noise[:, np.arange(left.size) & -2] + heights[left]"},
        killer="statistical/test_tree_splits.py::test_nodes_side_by_side_are_independent[2]",
    ),
    mutant(
        "tree-heights-of-others",
        "where noise is drawn again, a node of a tree is judged by the rows of another",
        "noise.tree:PrivTree.splits",
        {"noise + heights[left]": "noise + heights[: left.size]"},
        killer=TREE + "test_decisions_are_those_of_the_noise_that_was_drawn[3000]",
    ),
    mutant(
        "tree-blind-too-soon",
        "nodes of a tree whose rows may still decide are taken for empty ones",
        "noise.tree:PrivTree.blind",
        {"== -units.bias": "<= 0"},
        killer=TREE + "test_nodes_are_blind_where_they_and_all_below_are_as_high_as_empty_ones_at_their_lowest"
        "[epsilon1-add-remove-300]",
    ),
    mutant(
        "tree-rows-not-counted",
        "leaves whose rows were not passed over, since they decide nothing, are published as empty ones",
        "private.trees:grow",
        {
            "counts[~split] if told else None": "counts[~split]",
            "if told and depth <= table.bottom": "if depth <= table.bottom",
        },
        killer="unit/private/test_tree.py::test_leaves_below_forks_with_few_of_them_are_cut_off[even-64-400-2-1]",
    ),
    mutant(
        "tree-cut-by-rows",
        "whether a tree's lowest leaves are cut off hangs on exact rows, not on decisions",
        "private.trees:_without_twigs",
        {"(below >= many)": "(rows >= many)"},
        killer="unit/private/test_tree.py::test_one_large_twig_of_very_many_is_noise",
    ),
    mutant(
        "tree-bias-of-the-paper",
        "the bias of a level is that of the paper: an empty node splits twice as often, and a whole leaf tells more",
        "noise.tree:units_of",
        {"Decimal(2 * fan_out)": "Decimal(fan_out)"},
        killer=TREE + "test_the_noise_is_less_than_half_of_the_papers[2-epsilon0]",
    ),
    mutant(
        "cover-sharp",
        "max cover picks a tenth too sharply for what is charged",
        "noise.cover:CoverPicks.rate",
        {"self.epsilon / 2": "self.epsilon * 11 / 20"},
        killer="audit/test_checks.py::test_a_covered_row_counts_for_half_of_epsilon",
    ),
    mutant(
        "cover-cheap",
        "the cost of max cover's picks a tenth below the formula",
        "noise.cover:cost_of",
        {"max(Fraction(high), Fraction(long))": "max(Fraction(high), Fraction(long)) * 10 / 11"},
        killer=COVER + "test_the_exact_bound_is_exact[0.03]",
    ),
    mutant(
        "cover-replaced-as-added",
        "the cost of max cover's picks forgets the row that comes where one is replaced",
        "noise.cover:cost_of",
        {"joining = Fraction(high) if replaced else Fraction(0)": "joining = Fraction(0)"},
        killer=COVER + "test_the_cost_of_replacing_is_the_formula_and_less_than_two_steps[delta0-epsilon0]",
    ),
    mutant(
        "cover-replaced-at-all-of-delta",
        "the cost of max cover's picks forgets that joining multiplies delta where a row is replaced",
        "noise.cover:cost_of",
        {"odds = _UP.add(odds, high)": "pass"},
        killer=COVER + "test_the_cost_of_replacing_is_the_formula_and_less_than_two_steps[delta0-epsilon2]",
    ),
    mutant(
        "cover-draws-uncovered-only",
        "the uniform part of a pick falls on uncovered grid points only, as in the code of AAAI'21",
        "private.covers:Coverage.pick",
        {
            "return np.array([below(width, source) - self._half for _ in self._cells], dtype=np.int64)": (
                "place = np.array([below(width, source) - self._half for _ in self._cells], dtype=np.int64)\n"
                "            if not self._covered(place).size:\n"
                "                return place\n"
                "            continue"
            )
        },
        killer="statistical/test_max_cover_law.py::test_picks_follow_the_law[0]",
    ),
    mutant(
        "averages-narrow",
        "the noise on averages of blocks a tenth too small",
        "noise.averages:ClampedAverages.average",
        {"self.epsilon / (2 * columns * UNITS)": "self.epsilon * 11 / 10 / (2 * columns * UNITS)"},
        killer="property/test_blocks.py::test_the_noise_of_averages_has_the_promised_scale_and_this_test_can_tell[1.0-True]",
    ),
    mutant(
        "averages-range-of-the-data",
        "the range of averages is that of the blocks' answers, not a private one",
        "noise.averages:ClampedAverages.ranges",
        {
            "ends = np.empty((len(QUARTILES), columns), dtype=np.int64)": (
                "return table.min(axis=0) - 1, table.max(axis=0) + 1"
            )
        },
        killer="audit/test_checks.py::test_the_range_of_block_averages_is_noisy",
    ),
    mutant(
        "noisy-avg-narrow",
        "NOISY-AVG's noise a tenth too small",
        "noise.noisy_average:NoisyAverages.variance",
        {"(self.multiplier * moved) ** 2": "(self.multiplier * moved * 10 / 11) ** 2"},
        killer=COVER + "test_noisy_avg_has_the_printed_scale",
    ),
    mutant(
        "noisy-avg-exact-size",
        "NOISY-AVG's noise is scaled by the exact number of rows",
        "noise.noisy_average:NoisyAverages.add",
        {"self.variance(known,": "self.variance(max(1, int(rows[cluster])),"},
        killer="audit/test_checks.py::test_the_noise_of_an_average_follows_from_the_noisy_number_of_rows",
    ),
    mutant(
        "source-repeats",
        "the operating system's words are read once and handed out again and again",
        "noise.source:OsSource.words",
        {
            "os.urandom(count * np.dtype(dtype).itemsize)": (
                "(globals().setdefault('_buffer', os.urandom(2**16)) * 2**6)[: count * np.dtype(dtype).itemsize]"
            )
        },
        killer="unit/noise/test_source.py::test_threads_get_different_words_from_the_operating_system",
    ),
    mutant(
        "source-survives-fork",
        "randomness is buffered, so that a forked child repeats its parent's noise",
        "noise.source:OsSource.words",
        {
            "return np.frombuffer(os.urandom(count * np.dtype(dtype).itemsize), dtype=dtype)": (
                "size, held = count * np.dtype(dtype).itemsize, globals().setdefault('_held', bytearray())\n"
                "    while len(held) < size:\n"
                "        held += os.urandom(2**16)\n"
                "    out = bytes(held[:size])\n"
                "    del held[:size]\n"
                "    return np.frombuffer(out, dtype=dtype)"
            )
        },
        killer="audit/test_checks.py::test_a_forked_child_does_not_repeat_its_parents_noise",
    ),
    mutant(
        "source-of-numpy",
        "noise comes from numpy's global generator",
        "noise.source:OsSource.words",
        {"os.urandom(count * np.dtype(dtype).itemsize)": "np.random.bytes(count * np.dtype(dtype).itemsize)"},
        killer="unit/test_estimator.py::test_numpys_global_generator_is_neither_read_nor_changed[None-lloyd]",
    ),
    mutant(
        "seeded-requests-shared",
        "a seeded source answers every request with the same words",
        "noise.source:SeededSource.words",
        {"self._requests += 1": "pass"},
        killer="unit/noise/test_source.py::test_the_seeded_stream_is_pinned",
    ),
)

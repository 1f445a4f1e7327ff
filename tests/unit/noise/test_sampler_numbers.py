"""Every number that a mechanism hands to a sampler is observed, and is that of its proof note.

The list of places that call a sampler is read from the syntax tree: one that is added has to be observed here, or by
the test that is named for it.
"""

from __future__ import annotations

import ast
import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import covey
from covey.audit.draws import record_calls
from covey.events import Sensitivity
from covey.noise import chain, cover, gaussian, radial
from covey.noise.averages import CANDIDATES, QUARTILES, UNITS, ClampedAverages
from covey.noise.chain import ChainedLaplace
from covey.noise.cover import CoverPicks
from covey.noise.gaussian import discrete_gaussian
from covey.noise.mechanisms import (
    GAUSSIAN_VARIANCE_PER_NUMBER,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    RadialLaplace,
    ThresholdedLaplace,
)
from covey.noise.noisy_average import FINE, NoisyAverages
from covey.noise.source import SeededSource
from covey.noise.tree import MOST_TRIES, PrivTree
from covey.private.narrowed import sample
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.frames import ArrayTable
from covey.public import Neighbours

SOURCE = Path(covey.__file__).parent
SAMPLERS = {
    "discrete_laplace",
    "discrete_gaussian",
    "radial_laplace",
    "pick",
    "gaps",
    "kept",
    "choose",
    "flip",
    "below",
}
SITES = {  # module and function, sampler: where it is observed
    ("noise.averages:ClampedAverages.average", "discrete_laplace"): "test_clamped_averages",
    ("noise.averages:ClampedAverages.ranges", "pick"): "test_clamped_averages",
    ("noise.chain:ChainedLaplace.add_chain", "discrete_laplace"): "test_a_chain",
    ("noise.chain:add_more", "discrete_laplace"): "test_a_chain",
    ("noise.chain:add_more", "flip"): "test_a_chain",
    (
        "noise.coins:Wheel._settle",
        "below",
    ): "test_coins.py::test_a_wheel_counts_the_thresholds_above_on_every_first_word",
    ("noise.coins:flip", "below"): "test_coins.py::test_a_coin_that_ties_twice_asks_for_a_third_word",
    ("noise.cover:CoverPicks.accepts", "below"): "test_the_coin_of_a_proposed_point",
    ("noise.gaps:choose", "choose"): "test_gaps.py::test_a_chosen_set_has_its_size_and_ascends",
    ("noise.gaps:kept", "gaps"): "test_gaps.py::test_places_ascend_and_are_the_sums_of_gaps",
    ("noise.gaussian:_accepted", "below"): "test_gaussian.py::test_the_coin_is_right_on_every_side_of_its_boundary",
    ("noise.gaussian:discrete_gaussian", "discrete_laplace"): "test_proposals_for_gaussian_noise",
    ("noise.mechanisms:DiscreteGaussian.add", "discrete_gaussian"): "test_plain_mechanisms",
    ("noise.mechanisms:DiscreteLaplace.add", "discrete_laplace"): "test_plain_mechanisms",
    ("noise.mechanisms:Exponential.pick", "pick"): "test_plain_mechanisms",
    ("noise.mechanisms:RadialLaplace.add", "radial_laplace"): "test_plain_mechanisms",
    ("noise.mechanisms:ThresholdedLaplace.add_by_key", "discrete_laplace"): "test_plain_mechanisms",
    ("noise.noisy_average:NoisyAverages.add", "discrete_gaussian"): "test_noisy_averages",
    ("noise.noisy_average:NoisyAverages.add", "discrete_laplace"): "test_noisy_averages",
    ("noise.radial:_accepted", "below"): "test_radial.py::test_proposed_and_kept_is_the_law_exactly",
    ("noise.radial:radial_laplace", "discrete_gaussian"): "test_proposals_for_noise_by_length",
    ("noise.tree:PrivTree.splits", "discrete_laplace"): "test_the_splits_of_a_tree",
    ("private.covers:Coverage.pick", "below"): "../algorithms/test_max_cover.py::test_uniform_whole_numbers",
    ("private.narrowed.sample:SampledTable.poisson", "kept"): "test_samples",
    ("private.narrowed.sample:SampledTable.without_replacement", "choose"): "test_samples",
    (
        "private.narrowed.spark:keep_rows",
        "kept",
    ): "../../engines/test_spark_coins.py::test_spark_partitions_draw_by_the_rate",
}
WIDE = Sensitivity(l1=12, l2_squared=50, linf=7, coordinates=3)
STAY, LAPLACE = chain.stay, gaussian.discrete_laplace  # as they are
THIRD, DELTA = Fraction(1, 3), Fraction(1, 10**6)


def called() -> set[tuple[str, str]]:
    """Every call of a sampler in the library: the function that calls, and the sampler."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        module = path.relative_to(SOURCE).as_posix().removesuffix(".py").replace("/", ".")
        if module.partition(".")[0] in ("algorithms", "budget", "fit", "noise", "private", "queries"):
            found |= {(f"{module}:{name}", sampler) for name, sampler in _calls(ast.parse(path.read_text()), "")}
    return found


def _calls(node: ast.AST, name: str) -> set[tuple[str, str]]:
    found = set()
    for each in ast.iter_child_nodes(node):
        inner = name
        if isinstance(each, ast.ClassDef):
            inner = f"{each.name}."
        elif isinstance(each, ast.FunctionDef) and (not name or name.endswith(".")):
            inner = name + each.name
        if isinstance(each, ast.Call):
            sampler = each.func.id if isinstance(each.func, ast.Name) else getattr(each.func, "attr", "")
            drawn = isinstance(each.func, ast.Name) or sampler == "below"
            found |= {(name, sampler)} if sampler in SAMPLERS and drawn else set()
        found |= _calls(each, inner)
    return found


def test_every_call_of_a_sampler_is_observed():
    assert called() == set(SITES)
    here = Path(__file__)
    for where in filter(None, SITES.values()):
        file, _, test = where.rpartition("::")
        assert f"def {test}(" in (here.parent / file if file else here).read_text(), where


def test_plain_mechanisms():
    four = np.arange(4)
    with record_calls() as calls:
        DiscreteLaplace(THIRD).add(four, WIDE, SeededSource(1))
        DiscreteGaussian(Fraction(2**14)).add(four, WIDE, SeededSource(1))
        Exponential(THIRD).pick(four, WIDE, SeededSource(1))
        ThresholdedLaplace(THIRD, DELTA).add_by_key(four, four + 1, WIDE, SeededSource(1))
        RadialLaplace(THIRD).add(four, replace(WIDE, block=2, l2_by_block=9), SeededSource(1))
        RadialLaplace(THIRD).add(four, WIDE, SeededSource(1))
        RadialLaplace(Fraction(10**9)).add(four, WIDE, SeededSource(1))
    assert [(call.sampler, call.rate) for call in calls] == [
        ("discrete_laplace", Fraction(1, 3 * 12)),
        ("discrete_gaussian", Fraction(2**28 * 50)),
        ("pick", Fraction(1, 3 * 2 * 7)),
        ("discrete_laplace", Fraction(1, 3 * 12)),
        ("radial_laplace", Fraction(1, 3 * 9)),
        ("radial_laplace", Fraction(1, 3 * 12)),  # without blocks, numbers by themselves
        ("radial_laplace", Fraction(4)),  # no less noise than that
    ]
    assert [call.given for call in calls[-3:]] == [(2, 2), (4, 1), (4, 1)]


@pytest.mark.parametrize("columns", [1, 3])
def test_clamped_averages(columns):
    """Half of epsilon to the quartiles of all columns, utilities moving by 100; half to the sums, by UNITS each."""
    table = np.arange(8 * columns).reshape(8, columns)
    with record_calls() as calls:
        ClampedAverages(THIRD).average(table, 1000, SeededSource(1))
    picks, (sums,) = calls[:-1], calls[-1:]
    assert [call.sampler for call in picks] == ["pick"] * 2 * columns
    assert {call.rate for call in picks} == {THIRD / 2 / (2 * columns) / (2 * 100)}
    assert (sums.sampler, sums.rate, sums.given) == ("discrete_laplace", THIRD / 2 / (columns * UNITS), columns)
    spent = sum(call.rate * 2 * 100 for call in picks) + sums.rate * columns * UNITS
    assert spent == ClampedAverages(THIRD).event().epsilon
    candidates = np.linspace(-1000, 1000, CANDIDATES).astype(np.int64)
    for at, call in enumerate(picks):
        column, percent = table[:, at // 2], QUARTILES[at % 2]
        expected = [-abs(100 * int((column < each).sum()) - percent * 8) for each in candidates]
        assert call.given.tolist() == expected


@pytest.mark.parametrize(("epsilon", "rows"), [(THIRD, 4000), (Fraction(4), 500)])
def test_noisy_averages(epsilon, rows):
    """m + Lap(5/epsilon) - the offset, then one Gaussian of 2Δ/m̂ and the rounding for each coordinate of the mean."""
    size, longest = 3, 2**20
    sensitivity = Sensitivity(l1=size * longest, l2_squared=2 * longest**2, linf=longest, coordinates=size + 1)
    mechanism = NoisyAverages(epsilon, DELTA, 2)
    exact = np.array([[7, 8, 9, rows * longest], [0, 0, 0, 0]])
    with record_calls() as calls:
        out = mechanism.add(exact.reshape(-1), sensitivity, SeededSource(3)).reshape(2, -1)
    counted, *means = calls
    assert (counted.sampler, counted.rate, counted.given) == ("discrete_laplace", epsilon / 5, 2)
    assert mechanism.offset == math.ceil(5 / float(epsilon) * math.log(2 / float(DELTA)) * (1 + 1e-9))
    assert out[:, -1].tolist() == (np.array([rows, 0]) + counted.drawn - mechanism.offset).tolist()
    known = int(out[0, -1])
    assert known > 0 > out[1, -1]
    assert [call.sampler for call in means] == ["discrete_gaussian"]  # of the cluster that is known
    moved = 2 * longest * FINE / known + math.isqrt(size - 1) + 1
    proven = max((float(mechanism.multiplier) * moved) ** 2, float(GAUSSIAN_VARIANCE_PER_NUMBER * size))
    assert float(means[0].rate) == pytest.approx(proven, rel=1e-12)
    assert means[0].given == size


def test_the_variance_of_an_average_is_never_below_what_discrete_noise_is_proven_for():
    mechanism = NoisyAverages(Fraction(10**4), DELTA, 1)
    assert mechanism.variance(10**9, size=3, longest=1) == 3 * GAUSSIAN_VARIANCE_PER_NUMBER
    assert mechanism.variance(1, size=3, longest=2**20) > 3 * GAUSSIAN_VARIANCE_PER_NUMBER


def test_a_chain(monkeypatch):
    """The least private level has its own scale; each step keeps or adds by the coin of its own two scales."""
    flipped = []
    monkeypatch.setattr(chain, "stay", lambda wide, narrow: flipped.append((wide, narrow)) or STAY(wide, narrow))
    levels = (Fraction(1, 4), Fraction(1, 2), Fraction(2))
    with record_calls() as calls:
        ChainedLaplace(levels).add_chain(np.zeros(50, dtype=np.int64), WIDE, SeededSource(1))
    scales = [each / 12 for each in levels]
    assert flipped == [(scales[1], scales[2]), (scales[0], scales[1])]
    assert [call.rate for call in calls] == [scales[2], scales[1], scales[0]]
    assert calls[0].given == (50,)
    assert 0 < calls[1].given < 50


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_splits_of_a_tree(relation):
    tree = PrivTree(THIRD, fan_out=4, theta=2)
    with record_calls() as calls:
        tree.splits(np.array([0, 5, 900]), depth=1, neighbours=relation, source=SeededSource(1))
    units = tree.units(relation)
    assert {(call.sampler, call.rate) for call in calls} == {("discrete_laplace", Fraction(1, units.noise))}
    assert calls[0].given == (MOST_TRIES, 3)  # the first that would have split the parent is taken
    paper = (2 * 4 - 1) / (4 - 1) * 3 * (2 if relation is Neighbours.REPLACE_ONE else 1)
    assert units.noise / units.row <= paper  # in rows; that it costs at most epsilon: test_tree_noise.py


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9), Fraction(99, 10), Fraction(10**9)])
def test_proposals_for_gaussian_noise(variance, monkeypatch):
    """Laplace proposals of scale floor(sigma) + 1, and the acceptance of that scale and variance."""
    asked = []

    def proposed(count, *, inverse_scale, source):
        asked.append(inverse_scale)
        return LAPLACE(count, inverse_scale=inverse_scale, source=source)

    monkeypatch.setattr(gaussian, "discrete_laplace", proposed)
    discrete_gaussian(5, variance=variance, source=SeededSource(1))
    assert set(asked) == {Fraction(1, math.isqrt(int(variance)) + 1)}


def test_proposals_for_noise_by_length(monkeypatch):
    """Variances j²/rate², for the j that were drawn for them."""
    asked, spreads = [], itertools.chain([3, 1, 3], itertools.cycle([1, 2, 3]))

    def proposed(shape, *, variance, source):
        asked.append((shape, variance))
        return discrete_gaussian(shape, variance=variance, source=source)

    monkeypatch.setattr(radial, "discrete_gaussian", proposed)
    monkeypatch.setattr(radial, "_spread", lambda *_: next(spreads))
    radial.radial_laplace(3, 4, rate=Fraction(2, 7), source=SeededSource(1))
    assert asked[:2] == [((1, 4), Fraction(49, 4)), ((2, 4), Fraction(9 * 49, 4))]
    assert all(variance == Fraction(49, 4) * math.isqrt(int(variance * 4 / 49)) ** 2 for _, variance in asked)


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("ceiling", [1, 4, 9])
def test_the_coin_of_a_proposed_point(rate, ceiling, monkeypatch):
    """(e^(rate·c) - 1)/c against the ceiling's, which is rounded up by less than one part in 2^40."""
    seen = []
    monkeypatch.setattr(cover.Uniform, "below", lambda _, probability: bool(seen.append(probability)))
    picks = CoverPicks(2 * rate, DELTA)
    for count in range(ceiling + 2):
        picks.accepts(count, ceiling=ceiling, source=SeededSource(1))
    assert len(seen) == ceiling  # not for a point without rows, nor above the ceiling
    top = math.expm1(rate * ceiling) / ceiling
    for count, probability in enumerate(seen, 1):
        expected = math.expm1(rate * count) / count / top
        assert probability.leading(50) / 2**50 == pytest.approx(expected, rel=2**-40)
        assert probability.leading(50) / 2**50 <= expected * (1 + 2**-48)


def test_samples(monkeypatch):
    asked = []
    for name in ("kept", "choose"):
        real = getattr(sample, name)
        monkeypatch.setattr(sample, name, lambda *a, real=real, **named: asked.append((a, named)) or real(*a, **named))
    source, table = SeededSource(1), ArrayTable(np.zeros((30, 2)))
    for drawn in (
        SampledTable.poisson(table, rate=Fraction(1, 7), source=source),
        SampledTable.without_replacement(table, size=4, rows=30, source=source),
    ):
        list(drawn.pieces(None))
    assert asked == [((), {"rate": Fraction(1, 7), "source": source}), ((4,), {"of": 30, "source": source})]

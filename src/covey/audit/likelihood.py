"""The exact log-likelihood ratio of one recorded step under two neighbouring data sets.

Rates and scales are those that the samplers were really called with (draws.py), so a wrong scale shows. Noise on
numbers is exact: fractions. Picks use floats, whose error is below 1e-11 (exponents of at most 745, each off by a
relative 2^-52, and a correctly rounded sum); decisions of a tree use 50 digits.

| mechanism | likelihood |
|---|---|
| DiscreteLaplace | the sum over changed numbers of rate·(|y - x'| - |y - x|) |
| RadialLaplace | the sum over blocks of rate·(length of y - x', minus that of y - x), in floats |
| ChainedLaplace | that of its least private level: the others are made from that level alone |
| Exponential | rate·(u_i - u'_i) - ln(Z/Z') |
| PrivTree | ln of the probability of each decision, by tails of discrete Laplace noise |
| ClampedAverages | those of its picks and of its noisy sums, given the picks |
| DiscreteGaussian | no bound; instead, how far the statistic moved in standard deviations, which has one (`shift`) |
| NoisyAverages, ThresholdedLaplace, CoverPicks | none: not of pure epsilon, the ratio has no bound |
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.audit.draws import Call, record_calls
from covey.audit.tape import Step
from covey.noise.averages import UNITS, ClampedAverages
from covey.noise.chain import ChainedLaplace
from covey.noise.mechanisms import DiscreteLaplace, Exponential, RadialLaplace
from covey.noise.source import SeededSource
from covey.noise.tree import PrivTree, above
from covey.public import Neighbours

PURE = (DiscreteLaplace, RadialLaplace, ChainedLaplace, Exponential, PrivTree, ClampedAverages)
_DIGITS = Context(prec=50)


@dataclass(frozen=True)
class Ratio:
    """ln P(answer | ours) - ln P(answer | theirs); and the largest and smallest that any answer to this step has."""

    seen: float
    most: float
    least: float

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(self.seen + other.seen, self.most + other.most, self.least + other.least)


NOTHING = Ratio(0.0, 0.0, 0.0)
EVERYTHING = Ratio(math.inf, math.inf, -math.inf)  # an answer that shows the exact statistic


def counted(step: Step) -> bool:
    """Whether the likelihood of a step is known."""
    return isinstance(step.mechanism, PURE)


def pieces(ours: Step, theirs: Step, relation: Neighbours) -> list[tuple[Ratio, Fraction]]:
    """The likelihood ratio of our answer to a step, in the pieces that it was paid for by, each with its share."""
    if isinstance(ours.mechanism, ClampedAverages) and any(call.sampler == "discrete_laplace" for call in ours.calls):
        ranges, sums = _of_averages(ours, theirs)
        return [(ranges, Fraction(1, 2)), (sums, Fraction(1, 2))]
    return [(ratio(ours, theirs, relation), Fraction(1))]


def shift(ours: Step, theirs: Step) -> float:
    """How far a statistic with Gaussian noise moved, in standard deviations of the noise that was really drawn."""
    if np.array_equal(ours.exact, theirs.exact):
        return 0.0
    noise = ours.calls[0] if ours.calls else None
    if (
        noise is None
        or noise.sampler != "discrete_gaussian"
        or not np.array_equal(ours.drawn, ours.exact + noise.drawn)
    ):
        return math.inf
    moved = [a - b for a, b in zip(ours.exact.ravel().tolist(), theirs.exact.ravel().tolist(), strict=True)]
    return math.sqrt(sum(each * each for each in moved) / noise.rate)


def ratio(ours: Step, theirs: Step, relation: Neighbours) -> Ratio:
    """The likelihood ratio of our answer to a step, under our statistic and theirs."""
    sampler = "discrete_laplace" if isinstance(ours.mechanism, DiscreteLaplace | ChainedLaplace | PrivTree) else "pick"
    sampler = "radial_laplace" if isinstance(ours.mechanism, RadialLaplace) else sampler
    if not ours.calls or ours.calls[0].sampler != sampler:  # an answer without noise
        return _unhidden(ours, theirs)
    rate = ours.calls[0].rate
    if isinstance(ours.mechanism, DiscreteLaplace | RadialLaplace | ChainedLaplace):
        return _of_numbers(rate, ours, theirs)
    if isinstance(ours.mechanism, Exponential):
        return _of_pick(rate, ours.exact, theirs.exact, int(ours.answer))
    if isinstance(ours.mechanism, PrivTree):
        most = max(call.rate for call in ours.calls)  # noise that is drawn again counts like the first
        return _of_splits(most, ours, theirs, relation)
    return _unhidden(ours, theirs)


def _unhidden(ours: Step, theirs: Step) -> Ratio:
    return NOTHING if np.array_equal(ours.exact, theirs.exact) else EVERYTHING


def _of_numbers(rate: Fraction, ours: Step, theirs: Step) -> Ratio:
    chained = isinstance(ours.mechanism, ChainedLaplace)
    answer, drawn = (each[-1] if chained else each for each in (ours.answer, ours.drawn))
    radial = isinstance(ours.mechanism, RadialLaplace)
    noise = ours.calls[0].drawn.reshape(np.shape(ours.exact)) if radial else ours.calls[0].drawn
    if np.shape(noise) != np.shape(drawn) or not np.array_equal(drawn, ours.exact + noise):
        return _unhidden(ours, theirs)  # not the statistic plus the noise
    if radial:
        return _of_blocks(rate, ours.exact, theirs.exact, answer, size=ours.calls[0].given[1])
    return _of_laplace(rate, ours.exact, theirs.exact, answer)


def _of_laplace(rate: Fraction, ours: Any, theirs: Any, answer: Any) -> Ratio:
    """Only numbers that changed tell the data sets apart. The extremes are on either side of both."""
    where = np.flatnonzero(np.ravel(ours) != np.ravel(theirs))
    columns = (np.ravel(each)[where].tolist() for each in (ours, theirs, answer))
    seen, moved = 0, 0
    for own, other, said in zip(*columns, strict=True):
        seen += abs(said - other) - abs(said - own)
        moved += abs(other - own)
    return Ratio(float(rate * seen), float(rate * moved), float(-rate * moved))


def _of_blocks(rate: Fraction, ours: Any, theirs: Any, answer: Any, *, size: int) -> Ratio:
    """The extremes are far away on the line through both."""
    moved = float(rate) * by_block(ours, theirs, size)
    return Ratio(float(rate) * (by_block(answer, theirs, size) - by_block(answer, ours, size)), moved, -moved)


def by_block(ours: Any, theirs: Any, size: int) -> float:
    """The sum over blocks of `size` numbers of the distance between two vectors in the block."""
    pairs = zip(np.ravel(ours).tolist(), np.ravel(theirs).tolist(), strict=True)
    squares = [(a - b) ** 2 for a, b in pairs]
    return math.fsum(math.sqrt(sum(squares[start : start + size])) for start in range(0, len(squares), size))


def _of_pick(rate: Fraction, ours: NDArray[np.int64], theirs: NDArray[np.int64], picked: int) -> Ratio:
    best = max(int(ours.max()), int(theirs.max()))
    change = float(rate) * (ours - theirs)
    logs = change - (_log_sum(rate, ours, best) - _log_sum(rate, theirs, best))
    return Ratio(float(logs[picked]), float(logs.max()), float(logs.min()))


def _log_sum(rate: Fraction, utilities: NDArray[np.int64], best: int) -> float:
    values, times = np.unique(best - utilities, return_counts=True)
    shift = int(values[0])
    with np.errstate(under="ignore"):
        weights = times * np.exp(-float(rate) * (values - shift))
    return math.log(math.fsum(weights.tolist())) - float(rate * shift)


def _of_splits(rate: Fraction, ours: Step, theirs: Step, relation: Neighbours) -> Ratio:
    """What each changed node's decision tells. No extremes: which nodes decide depends on the decisions above."""
    tree: PrivTree = ours.mechanism
    units = tree.units(relation)
    total = NOTHING
    for node in np.flatnonzero(ours.exact != theirs.exact).tolist():
        heights = [
            int(above(step.exact[node : node + 1] - tree.theta, depth=ours.at, units=units)[0])
            for step in (ours, theirs)
        ]
        own, other = (_log_decision(each, units.bias, rate, splits=bool(ours.answer[node])) for each in heights)
        seen = float(own - other)
        total += Ratio(seen, seen, seen)
    return total


def _log_decision(height: int, bias: int, rate: Fraction, *, splits: bool) -> Decimal:
    """ln P(z + X > 0 | z + B + X > 0), z the height, B the bias, X discrete Laplace; or of z + X <= 0."""
    given = log_tail(1 - height - bias, rate)
    if splits:
        return _DIGITS.subtract(log_tail(1 - height, rate), given)
    stays = log_tail(height, rate)  # and is not drawn again
    again = _DIGITS.exp(_DIGITS.subtract(log_tail(height + bias, rate), stays))
    return _DIGITS.subtract(_DIGITS.add(stays, _DIGITS.ln(_DIGITS.subtract(Decimal(1), again))), given)


def log_tail(least: int, rate: Fraction) -> Decimal:
    """ln P(X >= least) for discrete Laplace noise X, to 50 digits."""
    exact = _DIGITS.divide(Decimal(-rate.numerator), Decimal(rate.denominator))
    both = _DIGITS.add(Decimal(1), _DIGITS.exp(exact))
    if least >= 0:
        return _DIGITS.subtract(_DIGITS.multiply(exact, Decimal(least)), _DIGITS.ln(both))
    lower = _DIGITS.divide(_DIGITS.exp(_DIGITS.multiply(exact, Decimal(1 - least))), both)  # P(X <= least - 1)
    return _DIGITS.ln(_DIGITS.subtract(Decimal(1), lower))


def _of_averages(ours: Step, theirs: Step) -> tuple[Ratio, Ratio]:
    """Of the ranges, and of the sums given the ranges.

    The mechanism is run again on both tables with the picks that it made; without noise it tells its exact sums.
    """
    picks = [call for call in ours.calls if call.sampler == "pick"]
    noise = next(call for call in ours.calls if call.sampler == "discrete_laplace")
    sums, utilities = [], []
    for step in (ours, theirs):
        answers: Iterator[Call] = iter(picks)

        def again(call: Call, answers: Iterator[Call] = answers) -> Any:
            return next(answers).drawn if call.sampler == "pick" else np.zeros(call.given, dtype=np.int64)

        with record_calls(again) as calls:
            average = step.mechanism.average(step.exact, step.at, SeededSource(0))
        utilities.append([call.given for call in calls if call.sampler == "pick"])
        low, high = _ranges(step, picks)
        sums.append(np.rint((average - low) / (high - low) * (len(step.exact) * UNITS)).astype(np.int64))
    ranges = NOTHING
    for call, mine, other in zip(picks, *utilities, strict=True):
        ranges += _of_pick(call.rate, mine, other, int(call.drawn))
    return ranges, _of_laplace(noise.rate, sums[0], sums[1], sums[0] + noise.drawn)


def _ranges(step: Step, picks: list[Call]) -> tuple[Any, Any]:
    answers = iter(picks)
    with record_calls(lambda _: next(answers).drawn):
        low, high = step.mechanism.ranges(step.exact, step.at, SeededSource(0))
    return low, high

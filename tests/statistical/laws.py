"""The laws that noise must follow, each with a way to draw from Covey and the exact probabilities to compare with.

`off` multiplies the scale of the law that the draws are compared with: 1 is the promise, 0.95 and 1.05 are lies that a
test of the noise has to notice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, gamma, norm

from covey.events import Sensitivity
from covey.noise import SeededSource, Source, ThresholdedLaplace
from covey.noise.gaps import gaps
from covey.noise.gaussian import discrete_gaussian
from covey.noise.laplace import discrete_laplace
from covey.noise.radial import radial_laplace
from covey.noise.selection import pick

WRONG = 1e-9  # p-values below this count as a wrong law
Integers = NDArray[np.int64]
ONE = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)


def fits(observed: Any, expected: Any) -> float:
    """The p-value of Pearson's test; neighbouring cells are merged until each expects at least 20."""
    cells = [[0.0, 0.0]]
    for seen, due in zip(observed, expected, strict=True):
        if cells[-1][1] >= 20:
            cells.append([0.0, 0.0])
        cells[-1][0] += seen
        cells[-1][1] += due
    if cells[-1][1] < 20 and len(cells) > 1:
        last = cells.pop()
        cells[-1][0] += last[0]
        cells[-1][1] += last[1]
    seen, due = np.array(cells).T
    assert len(cells) > 1
    assert abs(due.sum() - seen.sum()) < 1e-6 * seen.sum()
    return float(chi2.sf(((seen - due) ** 2 / due).sum(), len(cells) - 1))


def fits_law(drawn: Integers, below: Callable[[Any], Any], scale: float, *, most: int = 400) -> float:
    """Compare with P(X < x) = below(x), on all integers near 0, or on fewer cells if there are too many."""
    reach = int(14 * scale) + 2
    inner = np.unique(np.linspace(-reach, reach, min(2 * reach + 1, most)).astype(np.int64))
    observed = np.bincount(np.searchsorted(inner, drawn, side="right"), minlength=inner.size + 1)
    cumulative = np.concatenate([[0.0], below(inner), [1.0]])
    return fits(observed, np.diff(cumulative) * drawn.size)


def laplace_below(scale: float) -> Callable[[Any], Any]:
    """P(X < x) = q^(1-x)/(1+q) up to 0, and 1 - q^x/(1+q) beyond."""

    def below(x: Any) -> Any:
        ends = np.exp(-np.where(x > 0, x, 1 - x) / scale) / (1 + np.exp(-1 / scale))
        return np.where(x > 0, 1 - ends, ends)

    return below


def gaussian_below(sigma: float) -> Callable[[Any], Any]:
    if sigma > 1000:  # the rounded normal law: the difference is far below what a million draws can see
        return lambda x: norm.cdf((x - 0.5) / sigma)
    support = np.arange(-int(40 * sigma) - 40, int(40 * sigma) + 41)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    cumulative = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
    return lambda x: cumulative[np.searchsorted(support, x)]


@dataclass(frozen=True)
class Law:
    """draw(count, source): so many numbers of Covey's; p_value(drawn, off): do they follow the law of scale x off?

    few : how many draws show five per cent, in `make test`; the full size is a million.
    """

    draw: Callable[[int, Source], Integers]
    p_value: Callable[[Integers, float], float]
    few: int = 200_000


def laplace(scale: Fraction) -> Law:
    return Law(
        lambda count, source: discrete_laplace(count, inverse_scale=1 / scale, source=source),
        lambda drawn, off: fits_law(drawn, laplace_below(float(scale) * off), float(scale), most=60),
    )


def gaussian(sigma: Fraction | float, *, variance: Fraction | None = None) -> Law:
    squared = Fraction(sigma) ** 2 if variance is None else variance
    return Law(
        lambda count, source: discrete_gaussian(count, variance=squared, source=source),
        lambda drawn, off: fits_law(drawn, gaussian_below(float(sigma) * off), float(sigma), most=120),
    )


def radial(rate: Fraction, size: int, *, few: int) -> Law:
    """Noise by the length of a vector of few numbers: each of the lattice's points near 0, or beyond them."""
    reach, wide = int(9 / rate) + 1, int(40 / rate) + 1

    def lengths(most: int) -> Any:
        axes = np.meshgrid(*[np.arange(-most, most + 1)] * size, indexing="ij")
        return np.sqrt(sum(np.square(axis).ravel() for axis in axes))

    near = lengths(reach)
    order = np.argsort(near, kind="stable")  # rare points are merged with others as far away

    def draw(count: int, source: Source) -> Integers:
        drawn = radial_laplace(count, size, rate=rate, source=source)
        places = ((drawn + reach) * (2 * reach + 1) ** np.arange(size)[::-1]).sum(axis=1)
        return np.where((np.abs(drawn) <= reach).all(axis=1), places, near.size)

    def p_value(drawn: Integers, off: float) -> float:
        expected = np.exp(-near * float(rate) / off) / np.exp(-lengths(wide) * float(rate) / off).sum()
        seen = np.bincount(drawn, minlength=near.size + 1)
        cells = np.append(expected[order], 1 - expected.sum()) * len(drawn)
        return fits(np.append(seen[:-1][order], seen[-1]), cells)

    return Law(draw, p_value, few)


def radial_length(rate: Fraction, size: int, *, few: int) -> Law:
    """The length of a vector of wide noise: rate·|z| is Gamma(size), up to far less than a million draws can see."""

    def draw(count: int, source: Source) -> Integers:
        drawn = radial_laplace(count, size, rate=rate, source=source)
        return np.sqrt(np.square(drawn.astype(np.float64)).sum(axis=1)).astype(np.int64)

    def p_value(drawn: Integers, off: float) -> float:
        edges = (gamma.ppf(np.linspace(0, 1, 30)[1:-1], size) / float(rate)).astype(np.int64)
        below = np.concatenate([[0.0], gamma.cdf(edges * float(rate) / off, size), [1.0]])
        observed = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=len(edges) + 1)
        return fits(observed, np.diff(below) * len(drawn))

    return Law(draw, p_value, few)


def choice(utilities: list[int], rate: Fraction, *, few: int) -> Law:
    """The exponential mechanism; `off` is that of its rate."""
    given = np.array(utilities)

    def draw(count: int, source: Source) -> Integers:
        return np.array([pick(given, rate=rate, source=source) for _ in range(count)])

    def p_value(drawn: Integers, off: float) -> float:
        weights = np.exp((given - given.max()) * float(rate) * off)
        return fits(np.bincount(drawn, minlength=len(given)), weights / weights.sum() * len(drawn))

    return Law(draw, p_value, few)


def gap(rate: Fraction) -> Law:
    """Gaps between the rows of a sample; `off` is that of the rate (of the rarer side)."""

    def p_value(drawn: Integers, off: float) -> float:
        wrong = float(rate) * off if rate < Fraction(9, 10) else 1 - (1 - float(rate)) * off
        steps = np.unique(np.floor(np.linspace(0, 12 / -np.log1p(-float(rate)), 40)).astype(np.int64))
        observed = np.bincount(np.searchsorted(steps, drawn, side="right") - 1, minlength=len(steps))
        beyond = np.append(np.exp(steps * np.log1p(-wrong)), 0.0)
        return fits(observed, -np.diff(beyond) * len(drawn))

    return Law(lambda count, source: gaps(count, rate=rate, source=source), p_value, few=400_000)


def threshold(epsilon: Fraction, delta: Fraction) -> Law:
    """Keys of one person each: mostly unseen (0), else the noisy count that reached the threshold."""
    mechanism = ThresholdedLaplace(epsilon, delta)
    tau = mechanism.threshold(ONE)

    def draw(count: int, source: Source) -> Integers:
        shown, values = mechanism.add_by_key(np.arange(count), np.ones(count, dtype=np.int64), ONE, source)
        noisy = np.zeros(count, dtype=np.int64)
        noisy[shown] = values
        return noisy

    def p_value(drawn: Integers, off: float) -> float:
        steps = np.arange(tau, tau + int(14 / epsilon))
        below = laplace_below(off / float(epsilon))(np.append(steps, steps[-1] + 1) - 1)
        expected = np.concatenate([[below[0]], np.diff(below), [1 - below[-1]]]) * len(drawn)
        cells = np.where(drawn == 0, 0, np.minimum(drawn - tau + 1, len(expected) - 1))
        return fits(np.bincount(cells, minlength=len(expected)), expected)

    return Law(draw, p_value, few=500_000)


def _in_words(number: Fraction) -> str:
    return str(number).replace("/", "-over-")


LAWS = {
    **{
        f"laplace-{_in_words(scale)}": laplace(scale)
        for scale in (
            *(Fraction(1, 5), Fraction(1), Fraction(7, 3), Fraction(10), Fraction(1000, 7)),
            *(Fraction(2**16), Fraction(2**40), Fraction(2**55)),
        )
    },
    **{
        f"gaussian-{sigma:g}": gaussian(sigma) for sigma in (0.3, 0.5, 1.0, 1.5, 7.25, 300.0, 2.0**12, 2.0**30, 2.0**45)
    },
    "gaussian-root-of-22-over-7": gaussian((22 / 7) ** 0.5, variance=Fraction(22, 7)),
    "radial-1-number": radial(Fraction(4, 5), 1, few=40_000),
    "radial-2-numbers": radial(Fraction(3, 2), 2, few=32_000),
    "radial-2-numbers-narrow": radial(Fraction(4), 2, few=40_000),
    "radial-3-numbers": radial(Fraction(2), 3, few=20_000),
    "radial-20-numbers": radial_length(Fraction(1, 2**24), 20, few=4_000),
    "choice-close": choice([3, 1, 4, 1, 5, 9, 2, 6], Fraction(1, 2), few=40_000),
    "choice-a-million-behind": choice([0, 10**6, 10**6 - 2], Fraction(1), few=60_000),
    "choice-far-behind-flat": choice([0, 2**40, 2**41], Fraction(3, 2**41), few=40_000),
    **{
        f"gap-{_in_words(rate)}": gap(rate)
        for rate in (Fraction(1, 2), Fraction(1, 30), Fraction(1, 10**7), Fraction(9, 10))
    },
    "threshold": threshold(Fraction(1), Fraction(1, 20)),
    "threshold-flat": threshold(Fraction(1, 3), Fraction(1, 8)),
}


def p_values(name: str, count: int, *, offs: tuple[float, ...] = (1, 0.95, 1.05), seed: int = 11) -> dict[float, float]:
    """The p-value of each lie about the scale, and of the truth, on one set of draws."""
    law = LAWS[name]
    drawn = law.draw(count, SeededSource(seed))
    return {off: law.p_value(drawn, off) for off in offs}

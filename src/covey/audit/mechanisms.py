"""Single mechanisms under attack: many releases at once, on two neighbours. What the whole library is made of.

A release of one number by one mechanism can be repeated in bulk, because a mechanism draws noise for every number
independently: 200,000 trials take seconds, and a noise scale that is 10% too small is seen. `single` experiments are
those whose worst event is likely enough for a bound of at least 0.9 of what is claimed. `weight` is how much of the
error that all bounds together may have goes to this one, fixed before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from covey.audit.bounds import Claim
from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amplify import inner_cost
from covey.events import Sensitivity, exactly
from covey.noise.chain import ChainedLaplace
from covey.noise.gaps import kept
from covey.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, ThresholdedLaplace
from covey.noise.source import Source
from covey.public import Neighbours, resolve_bounds
from covey.queries.counts import CellCounts, Count, InsideOutside, Outside
from covey.queries.grid import Grid
from covey.queries.voronoi import VoronoiSums

Features = NDArray[np.float64]
Draw = Callable[[int, Source], tuple[Features, Features]]
ROWS = 7  # on the smaller neighbour; any number would do
RATE = Fraction(1, 4)  # of the sample
DELTA = Fraction(1, 100)  # of the threshold: large, so that its event is seen
EXPONENTIAL_WEIGHT = 33  # three quarters, as there are eleven others: it tells all of its epsilon in rare events only
UNITS = 64  # of utility that one person can move: candidates can then be set apart finely


@dataclass(frozen=True)
class Experiment:
    """A mechanism, what it claims, and how to draw `trials` outputs on each of two neighbours, a line each."""

    name: str
    claim: Claim
    draw: Draw
    single: bool = True
    weight: int = 1


def experiments(epsilon: float, *, trials: int) -> list[Experiment]:
    """Every mechanism at this epsilon; `trials` sets where the exponential mechanism is easiest to catch."""
    exact = exactly(epsilon)
    claim = Claim(epsilon)
    return [
        Experiment("count", claim, _count(exact)),
        Experiment("inside and outside", claim, _sides(exact, Neighbours.ADD_REMOVE)),
        Experiment("outside, replace-one", claim, _sides(exact, Neighbours.REPLACE_ONE)),
        Experiment("histogram, one cell", claim, _histogram(exact, Neighbours.ADD_REMOVE)),
        Experiment("histogram, replace-one", claim, _histogram(exact, Neighbours.REPLACE_ONE)),
        Experiment(
            "exponential mechanism",
            claim,
            _exponential(exact, behind=_best_gap(epsilon, trials)),
            single=epsilon >= 1,
            weight=EXPONENTIAL_WEIGHT,
        ),
        Experiment("sampled count", claim, _sampled(exact)),
        Experiment("threshold, a key of many", claim, _key_of_many(exact)),
        Experiment("threshold, a key of one", Claim(epsilon, float(DELTA)), _key_of_one(exact), single=False),
        Experiment("chain, all levels", claim, _chain(exact, levels=3)),
        Experiment("chain, the most private level", Claim(epsilon / 4), _chain(exact, levels=1), single=epsilon >= 2),
        Experiment("Gaussian sums", Claim(float(exact), kind="mu"), _gaussian(1 / exact)),
    ]


def _cube(width: int = 1) -> Grid:
    return Grid(resolve_bounds((-1, 1), names=None, width=width), 3)


def _lines(*columns: NDArray[np.int64]) -> Features:
    return np.stack([each.astype(np.float64) for each in columns], axis=1)


def _count(epsilon: Fraction) -> Draw:
    mechanism = DiscreteLaplace(epsilon)
    sensitivity = Count(_cube().domain).sensitivity(Neighbours.ADD_REMOVE)

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        ours, theirs = (
            mechanism.add(np.full(trials, rows, dtype=np.int64), sensitivity, source) for rows in (ROWS + 1, ROWS)
        )
        return _lines(ours), _lines(theirs)

    return draw


def _sides(epsilon: Fraction, neighbours: Neighbours) -> Draw:
    """Rows inside and outside the bounds, with and without somebody outside; where the number of rows is public, those
    outside alone, when somebody inside becomes somebody outside."""
    mechanism, domain = DiscreteLaplace(epsilon), _cube().domain
    both = neighbours is Neighbours.ADD_REMOVE
    sensitivity = (InsideOutside(domain) if both else Outside(domain)).sensitivity(neighbours)
    ours, theirs = np.array([[ROWS, 1], [ROWS, 0]])[:, 0 if both else 1 :]

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        first, second = (mechanism.add(np.tile(each, (trials, 1)), sensitivity, source) for each in (ours, theirs))
        return first.astype(np.float64), second.astype(np.float64)

    return draw


def _histogram(epsilon: Fraction, neighbours: Neighbours) -> Draw:
    mechanism = DiscreteLaplace(epsilon)
    sensitivity = CellCounts(_cube()).sensitivity(neighbours)
    ours = np.array([ROWS + 1, 0, 0])
    theirs = np.array([ROWS, 0, 0]) if neighbours is Neighbours.ADD_REMOVE else np.array([ROWS, 0, 1])

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        first, second = (mechanism.add(np.tile(each, (trials, 1)), sensitivity, source) for each in (ours, theirs))
        return first.astype(np.float64), second.astype(np.float64)

    return draw


def _chain(epsilon: Fraction, *, levels: int) -> Draw:
    """A count at several levels of a slider: all that are shown, or the most private one of them by itself."""
    mechanism = ChainedLaplace((epsilon / 4, epsilon / 2, epsilon))
    sensitivity = Count(_cube().domain).sensitivity(Neighbours.ADD_REMOVE)

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        ours, theirs = (
            mechanism.add_chain(np.full(trials, rows, dtype=np.int64), sensitivity, source)[:levels]
            for rows in (ROWS + 1, ROWS)
        )
        return _lines(*ours), _lines(*theirs)

    return draw


def _exponential(epsilon: Fraction, *, behind: int) -> Draw:
    """Two candidates, one `behind` the other; one person is worth UNITS to it. The rarer it is, the more it tells."""
    mechanism = Exponential(epsilon)
    sensitivity = Sensitivity(l1=UNITS, l2_squared=UNITS**2, linf=UNITS, coordinates=1, monotone=True)

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        found = []
        for moved in (UNITS, 0):
            utilities = np.array([moved - behind, 0], dtype=np.int64)
            picked = (mechanism.pick(utilities, sensitivity, source) for _ in range(trials))
            found.append(_lines(np.fromiter(picked, dtype=np.int64, count=trials)))
        return found[0], found[1]

    return draw


def _best_gap(epsilon: float, trials: int) -> int:
    """How far behind the candidate should be for the best bound that this many trials can be expected to give."""
    claim = Claim(epsilon)
    gaps = np.unique(np.linspace(0, UNITS * 8 / epsilon, 200).astype(int))
    rare = 1 / (1 + np.exp(epsilon * gaps / UNITS))
    often = 1 / (1 + np.exp(epsilon * (gaps - UNITS) / UNITS))
    bounds = claim.lower(np.floor(often * trials), np.ceil(rare * trials), trials=trials, alpha=0.001, steps=16)
    return int(gaps[int(np.argmax(bounds))])


def _sampled(epsilon: Fraction) -> Draw:
    """A noisy count of a sample of one row, or of none: every place of the sampler's stream is one trial."""
    mechanism = DiscreteLaplace(inner_cost(Cost(epsilon), rate=RATE).epsilon)
    sensitivity = Count(_cube().domain).sensitivity(Neighbours.ADD_REMOVE)

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        present = np.zeros(trials, dtype=np.int64)
        for places in kept(rate=RATE, source=source):
            present[places[places < trials]] = 1
            if places[-1] >= trials:
                break
        absent = np.zeros(trials, dtype=np.int64)
        return tuple(_lines(mechanism.add(each, sensitivity, source)) for each in (present, absent))  # type: ignore[return-value]

    return draw


def _shown(keys: NDArray[np.int64], counts: NDArray[np.int64], trials: int) -> Features:
    line = np.full((trials, 1), np.nan)
    line[keys, 0] = counts
    return line


def _key_of_many(epsilon: Fraction) -> Draw:
    """The count of a key that many hold, with and without one of them: every key is one trial."""
    mechanism = ThresholdedLaplace(epsilon, DELTA)
    sensitivity = CellCounts(_cube()).sensitivity(Neighbours.ADD_REMOVE)
    holders = mechanism.threshold(sensitivity) + 5

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        keys = np.arange(trials)
        found = [
            mechanism.add_by_key(keys, np.full(trials, count, dtype=np.int64), sensitivity, source)
            for count in (holders + 1, holders)
        ]
        return _shown(*found[0], trials), _shown(*found[1], trials)

    return draw


def _key_of_one(epsilon: Fraction) -> Draw:
    """A key that only one person holds, or nobody: it may be shown with a chance of delta."""
    mechanism = ThresholdedLaplace(epsilon, DELTA)
    sensitivity = CellCounts(_cube()).sensitivity(Neighbours.ADD_REMOVE)

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        found = mechanism.add_by_key(np.arange(trials), np.ones(trials, dtype=np.int64), sensitivity, source)
        return _shown(*found, trials), np.full((trials, 1), np.nan)

    return draw


def _gaussian(multiplier: Fraction) -> Draw:
    """Noisy sums of one cluster; a row at the corner of the domain moves them by all of the sensitivity.

    A release of many numbers needs finer units than one of few, so trials are drawn in pieces of one real release.
    """
    mechanism = DiscreteGaussian(multiplier)
    domain = _cube(2).domain
    query = VoronoiSums(np.zeros((1, 2)), domain)
    sensitivity = query.sensitivity(Neighbours.ADD_REMOVE)
    corner = np.full(query.size, domain.limit, dtype=np.int64)  # its coordinates, and one row in units of `limit`
    piece = max(1, int(multiplier**2 * sensitivity.l2_squared / 2**26) // query.size)

    def releases(exact: NDArray[np.int64], trials: int, source: Source) -> Features:
        left, found = trials, []
        while left > 0:
            many = min(piece, left)
            found.append(mechanism.add(np.tile(exact, (many, 1)), sensitivity, source))
            left -= many
        towards = np.concatenate(found).astype(np.float64) @ corner.astype(np.float64)
        return (towards / np.square(corner.astype(np.float64)).sum())[:, None]

    def draw(trials: int, source: Source) -> tuple[Features, Features]:
        return releases(corner, trials, source), releases(np.zeros_like(corner), trials, source)

    return draw

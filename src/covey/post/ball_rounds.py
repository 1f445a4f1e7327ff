"""How many rounds of small balls a budget can pay for, and how many rows each takes: from public numbers alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, log2, sqrt, tanh

MOST_ROUNDS = 3000
MOST = Fraction(3, 8)  # of the rows left, in one ball: what the paper takes for k = 1
FEW = 48  # events from which on composition that uses a delta pays: at 33 it would give each of them 3% more
PAYS = 1.2  # what exact composition gives beyond its closed form, at least
STEPS = tuple(Fraction(step) for step in ("1", "1.4", "2", "2.8", "4", "5.6", "8", "11", "16", "22", "32"))
BETA = 0.1  # the chance of failure in the paper's slack of a radius


@dataclass(frozen=True)
class Demand:
    """What decides the rounds: all public or already released."""

    k: int
    fraction: Fraction  # of (rows left)/k that a ball takes, but at most 3/8 of them
    epsilon: float  # for all picks together
    delta: float
    picks: int  # events of a round
    error: float  # of a round's picks, in rows, at an epsilon of 1 each
    margin: float  # how many times that error a ball must hold


def ball_sizes(size: int, demand: Demand, *, least: int = 0) -> list[int]:
    """The number of rows that each ball takes: as many rounds as leave every ball large enough for its picks.

    There are at least `least` rounds, whether that is enough or not.
    """
    sizes: list[int] = []
    parts: Counter[Fraction] = Counter()
    left = size
    while len(sizes) < MOST_ROUNDS:
        rows = max(1, ceil(min(demand.fraction / demand.k, MOST) * left))  # up: with the paper's floor it never ends
        part = share(rows, sizes[0] if sizes else rows)
        parts[part] += 1
        if len(sizes) >= least and (rows > left or rows < needed(parts, part, demand)):
            break
        sizes.append(rows)
        left = max(0, left - rows)
    return sizes


def share(rows: int, first: int) -> Fraction:
    """What part of epsilon a ball gets, relative to the first: about 1/sqrt(its rows), in few different steps.

    A pick for a large ball may err by more rows. The steps are few because equal events are quick to compose.
    """
    return STEPS[min(round(log2(first / rows)), len(STEPS) - 1)]


def shares(sizes: Sequence[int]) -> list[Fraction]:
    """The share of each of these balls."""
    return [share(rows, sizes[0]) for rows in sizes]


def needed(parts: Counter[Fraction], part: Fraction, demand: Demand) -> float:
    """The fewest rows that a ball of this share may take: `margin` times the error of its picks."""
    return demand.margin * demand.error / (unit(parts, demand) * float(part))


def unit(parts: Counter[Fraction], demand: Demand) -> float:
    """About the epsilon of an event of share 1: by addition, or by what a delta allows, if that is better."""
    amounts = [(float(part), many * demand.picks) for part, many in parts.items()]
    plain = demand.epsilon / sum(part * many for part, many in amounts)
    if demand.delta <= 0 or sum(many for _, many in amounts) < FEW:
        return plain
    spread = sqrt(2 * log(1 / demand.delta) * sum(many * part**2 for part, many in amounts))
    x = demand.epsilon / spread
    for _ in range(8):
        x = demand.epsilon / (spread + sum(many * part * tanh(x * part / 2) for part, many in amounts))
    return max(plain, PAYS * x)


def smallest(enough: Callable[[float], bool], first: float) -> float:
    """The smallest number from `first` on, to 1%, that is enough."""
    high = first
    while not enough(high) and high < 1e15:
        high *= 2
    low = max(first, high / 2)
    while high > 1.01 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def iterated_log(x: float) -> int:
    """log*: how often the binary logarithm can be taken until the result is at most 1."""
    times = 0
    while x > 1:
        x, times = log2(x), times + 1
    return times


def recconcave_rows(*, k: int, epsilon: float, delta: float, side: int, dimension: int) -> float:
    """The rows that the printed GOOD-RADIUS would need: those with which 3n/(8k) reaches twice its slack Δ.

    Δ = 8^s · 144 s/ε' · ln(12 s/(β'δ')), s = log*(|X|√d), where ε', δ', β' are a third of 3/(8k ln n) of ε, δ, β.
    """
    s = iterated_log(side * sqrt(dimension))
    n = 1e6
    for _ in range(100):  # n is on both sides, but on one only inside logarithms
        part = 1 / (8 * k * log(n))
        n = 16 * k / 3 * 8**s * 144 * s / (epsilon * part) * log(12 * s / (BETA * delta * part**2))
    return n

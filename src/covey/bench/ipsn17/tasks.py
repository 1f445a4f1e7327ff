"""What `covey bench ipsn17` measures, and how. Every answer of a worker is a small dictionary of measured numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.ball_coreset import Settings as BallSettings
from covey.algorithms.ball_coreset import ball_coreset
from covey.algorithms.kit import LatticeCoreset, Outcome, after_size
from covey.algorithms.registry import find
from covey.bench.runner import Answer, Task
from covey.bench.sets import DataSet, Floats, gaussian_clusters, read, seed_of
from covey.bench.workload import door, unit_box
from covey.budget.accounting.promise import Kind, Promise
from covey.events import exactly
from covey.post.random import public_rng
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import open_table
from covey.public import Domain, Neighbours
from covey.queries.counts import Count

_BAY = (("lon", -122.75, -121.9), ("lat", 37.2, 38.1))
_NYC = (("lon", -74.1, -73.9), ("lat", 40.7, 40.9))


def _named(which: str, bounds: tuple[tuple[str, float, float], ...]) -> tuple[tuple[str, float, float], ...]:
    return tuple((f"{which}_{name}", low, high) for name, low, high in bounds)


SETS = {
    "cabs": DataSet(
        name="cabs",
        file="sf_cab_gps",
        bounds=_BAY,
        k=5,
        paper_rows=11_840_734,
        stands_in="positions of San Francisco cabs, 2008, in order of time",
    ),
    "trips": DataSet(
        name="trips",
        file="sf_cab_trips",
        bounds=_named("pickup", _BAY) + _named("dropoff", _BAY),
        k=5,
        paper_rows=11_840_734,
        stands_in="trips of San Francisco cabs, 2008: pick-up and drop-off",
    ),
    "taxi": DataSet(
        name="taxi",
        file="nyc_taxi",
        bounds=_named("pickup", _NYC),
        k=5,
        paper_rows=11_840_734,
        stands_in="88,286 pick-ups of New York taxis, 2009-2016, inside the paper's box",
    ),
}
PRINTED = {"radius_method": "exponential", "weights": "printed", "fraction": 0.375, "margin": 2.0}
NET_SHARE = 0.3  # of epsilon, for the base of a net


@dataclass(frozen=True)
class Curve:
    """Covey's algorithm and its parameters. stretch: what epsilon is multiplied with."""

    algorithm: str
    own: dict[str, Any] = field(default_factory=dict)
    printed_grid: bool = False
    stretch: float = 1.0


# The net of 2009 as printed spends all but the base's part on its intervals, and then gives exact counts away.
# `net-coreset` has half of that part for each of two releases: stretched, base and intervals have the printed noise.
VARIANTS = {
    "ball": Curve("ball-coreset"),
    "ball, printed form": Curve("ball-coreset", PRINTED),
    "ball, printed form and grid": Curve("ball-coreset", PRINTED, printed_grid=True),
    "ball, parts of 10,000": Curve("ball-coreset", {"rows_per_part": 10_000}),
    "net": Curve("net-coreset"),
    "net, printed form": Curve(
        "net-coreset",
        {"base": "net", "objective": "k-median", "share": NET_SHARE / (2 - NET_SHARE)},
        stretch=2 - NET_SHARE,
    ),
}
MANHATTAN = (  # the island's outline, by hand, to a few hundred metres
    (-74.019, 40.700),
    (-74.010, 40.700),
    (-73.997, 40.708),
    (-73.978, 40.709),
    (-73.971, 40.728),
    (-73.974, 40.735),
    (-73.961, 40.751),
    (-73.942, 40.774),
    (-73.943, 40.783),
    (-73.929, 40.797),
    (-73.934, 40.808),
    (-73.934, 40.835),
    (-73.910, 40.870),
    (-73.911, 40.876),
    (-73.926, 40.879),
    (-73.935, 40.870),
    (-73.948, 40.850),
    (-73.961, 40.822),
    (-74.010, 40.757),
    (-74.014, 40.730),
    (-74.020, 40.706),
)
SHAPE = ("radius_method", "weights", "fraction", "margin", "side", "rows_per_part", "too_few")  # of the balls
BLOCK = 2**13  # rows whose distances to a few centres stay in the cache
SHAKE = 1e-3  # of the box: rows beyond the end of a file are its first ones again, moved by about so much


@dataclass(frozen=True)
class Loaded:
    """Rows in [-1, 1]^d behind a door, and as they are."""

    rows: Floats
    engine: MemoryEngine
    domain: Domain

    def cost(self, points: Floats) -> float:
        """The sum of squared distances to the nearest centre."""
        norms = np.square(points).sum(axis=1, keepdims=True)
        total = float(np.square(self.rows).sum())
        for first in range(0, len(self.rows), BLOCK):
            total += float((norms - 2.0 * points @ self.rows[first : first + BLOCK].T).min(axis=0).sum())
        return total

    def run(self, variant: str, *, k: int, epsilon: float, relation: str, seed: int) -> Outcome:
        """One run as a fit would make it, with delta = n^-1.5."""
        curve = VARIANTS[variant]
        algorithm = find(curve.algorithm)
        budget, delta = exactly(epsilon * curve.stretch), delta_of(len(self.rows))
        promise = Promise.of(budget, delta, kind=Kind(Neighbours.parse(relation)))
        curator = door(self.engine, self.domain, promise, seed=seed)
        given = {"k": k, "epsilon": budget, "delta": delta, "objective": "k-means", "public_rng": public_rng(seed)}
        side = {"side": printed_side(len(self.rows))} if curve.printed_grid else {}
        return algorithm.run(curator, **{**algorithm.supplied(given), **curve.own, **side})


def delta_of(n: int) -> Fraction:
    return exactly(float(f"{n**-1.5:.3g}"))


def printed_side(n: int) -> int:
    """|X| of section 5.2: the smallest power of two of which the square is above n."""
    side = 2
    while side**2 <= n:
        side *= 2
    return side


def first_rows(which: str, n: int, *, data: Path | None) -> Floats:
    """The first n rows, as in the paper; if the file has fewer, its rows again, shaken a little."""
    if data is None:
        return gaussian_clusters(d=SETS[which].dimension, k=5, n=n)[0]
    rows = whole(which, data)
    if n <= len(rows):
        return rows[:n]
    again = np.tile(rows, (-(-n // len(rows)), 1))[:n]
    again[len(rows) :] += public_rng(seed_of("shake", which, n)).normal(0, SHAKE, (n - len(rows), rows.shape[1]))
    return np.clip(again, -1.0, 1.0)


@lru_cache(maxsize=1)
def whole(which: str, data: Path) -> Floats:
    """All rows of a file, clipped to the bounds; of New York only those inside, as in the paper."""
    rows = read(SETS[which], data)
    return rows[(np.abs(rows) < 1).all(axis=1)] if which == "taxi" else rows


@lru_cache(maxsize=1)
def loaded(which: str, n: int, data: Path | None) -> Loaded:
    rows = first_rows(which, n, data=data)
    domain = unit_box(rows.shape[1])
    engine = MemoryEngine(open_table(rows), domain)
    engine.total(Count(domain))
    return Loaded(rows, engine, domain)


def perform(task: Task, *, data: Path | None) -> Answer:
    """Do one task. `data` is the folder of the data sets, or None if all rows are made up."""
    asked = {name: value for name, value in task.parameters.items() if name not in ("covey", "rows")}
    return KINDS[task.kind](data=data, **asked)


def baseline(*, data: Path | None, set: str, n: int, k: int) -> Answer:
    """Ordinary k-means by scikit-learn: the cost that errors are relative to."""
    from sklearn.cluster import KMeans

    load = loaded(set, n, data)
    found = KMeans(k, n_init=3, random_state=0).fit(load.rows)
    return {"cost": load.cost(found.cluster_centers_), "n": len(load.rows)}


def error(
    *, data: Path | None, set: str, n: int, k: int, variant: str, relation: str, epsilon: float, runs: int
) -> Answer:
    """Costs and coreset sizes of several runs; too few rows for k balls are an answer as well, and count as refused."""
    load = loaded(set, n, data)
    answer: Answer = {"refused": False, "costs": [], "sizes": [], "rounds": [], "negative": []}
    for run in range(runs):
        seed = seed_of("ipsn17", set, n, k, variant, relation, epsilon, run)
        made = load.run(variant, k=k, epsilon=epsilon, relation=relation, seed=seed)
        if made.notes.get("too_few_rows") and variant.startswith("ball"):
            return {**answer, "refused": True}
        answer["costs"].append(load.cost(load.domain.from_lattice(made.centres)))
        weights = points_of(made).weights
        answer["sizes"].append(len(weights))
        answer["rounds"].append(made.notes.get("rounds", 0))
        answer["negative"].append(int((weights < 0).sum()))
    return answer


def points_of(made: Outcome) -> LatticeCoreset:
    if made.coreset is None:
        raise ValueError("the algorithm makes no coreset")
    return made.coreset


def timed(
    *, data: Path | None, set: str, n: int, k: int, variant: str, relation: str, epsilon: float, runs: int
) -> Answer:
    """Seconds from rows in an array to the release; the rows are read again in each run, as a fit does."""
    rows = first_rows(set, n, data=data)
    domain = unit_box(rows.shape[1])
    wall, cpu = [], []
    for run in range(runs):
        before, spent = time.perf_counter(), time.process_time()
        load = Loaded(rows, MemoryEngine(open_table(rows), domain), domain)
        load.run(variant, k=k, epsilon=epsilon, relation=relation, seed=run)
        wall.append(time.perf_counter() - before)
        cpu.append(time.process_time() - spent)
    return {"wall": min(wall), "cpu": min(cpu)}  # the least disturbed run


def rounds(*, n: int, k: int, variant: str, epsilons: Sequence[float]) -> list[int]:
    """How many balls there are at each epsilon: a function of n, k, epsilon and delta alone."""
    own = {name: spec.default for name, spec in signature(ball_coreset).parameters.items() if name in SHAPE}
    own |= VARIANTS[variant].own
    settings = BallSettings(domain=unit_box(2), neighbours=Neighbours.REPLACE_ONE, k=k, **own)
    left = [after_size(exactly(epsilon), Neighbours.REPLACE_ONE) for epsilon in epsilons]
    return [len(settings.rounds(n, epsilon=each, delta=delta_of(n))[2]) for each in left]


def city_map(*, data: Path | None, set: str, n: int, k: int, variant: str, epsilon: float, runs: int) -> Answer:
    """Figure 8 at one level: points of the coreset, how many of them are off the island, and one run to draw."""
    load = loaded(set, n, data)
    sizes, outside, drawn = [], [], {}
    for run in range(runs):
        seed = seed_of("ipsn17 map", set, n, k, variant, epsilon, run)
        made = load.run(variant, k=k, epsilon=epsilon, relation="replace-one", seed=seed)
        coreset = points_of(made)
        points = degrees(load.domain.from_lattice(coreset.points), set)
        sizes.append(len(points))
        outside.append(int((~inside(points, MANHATTAN)).sum()))
        if run == 0:
            centres = degrees(load.domain.from_lattice(made.centres), set)
            drawn = {"points": points.tolist(), "weights": coreset.weights.tolist(), "centres": centres.tolist()}
    return {"sizes": sizes, "outside": outside, **drawn}


def ground(*, data: Path | None, set: str, n: int, k: int, shown: int) -> Answer:
    """What figure 8 is drawn on: some of the (public) rows, and the centres of ordinary k-means."""
    from sklearn.cluster import KMeans

    load = loaded(set, n, data)
    centres = KMeans(k, n_init=3, random_state=0).fit(load.rows).cluster_centers_
    some = load.rows[:: max(1, len(load.rows) // shown)]
    return {"rows": degrees(some, set).round(4).tolist(), "centres": degrees(centres, set).tolist()}


def degrees(rows: Floats, which: str) -> Floats:
    """From [-1, 1]^d back to the units of a set."""
    low, high = np.array([ends for _, *ends in SETS[which].bounds], dtype=np.float64).T
    return np.asarray((low + high) / 2 + rows * (high - low) / 2)


def inside(points: Floats, outline: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
    """Whether each point is inside an outline: an odd number of its edges are to the east."""
    found = np.zeros(len(points), dtype=bool)
    x, y = points.T
    for (x0, y0), (x1, y1) in zip(outline, (*outline[1:], outline[0]), strict=True):
        spans = (y0 > y) != (y1 > y)
        found ^= spans & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0 if y1 != y0 else 1.0))
    return found


KINDS: dict[str, Callable[..., Answer]] = {
    "baseline": baseline,
    "error": error,
    "time": timed,
    "map": city_map,
    "ground": ground,
}

"""What `covey bench ipsn17` measures, and how. Every answer of a worker is a small dictionary of measured numbers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from covey.algorithms.kit import Outcome
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
        stands_in="93,246 pick-ups of New York taxis, 2009-2016, clipped to the paper's box",
    ),
}
PRINTED = {"radius_method": "exponential", "weights": "printed", "fraction": 0.375, "margin": 2.0}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {  # a curve: Covey's algorithm and its parameters
    "ball": ("ball-coreset", {}),
    "ball, printed form": ("ball-coreset", PRINTED),
    "ball, parts of 10,000": ("ball-coreset", {"rows_per_part": 10_000}),
    "net": ("net-coreset", {}),
}
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
        name, own = VARIANTS[variant]
        algorithm = find(name)
        budget, delta = exactly(epsilon), exactly(float(f"{len(self.rows) ** -1.5:.3g}"))
        promise = Promise.of(budget, delta, kind=Kind(Neighbours.parse(relation)))
        curator = door(self.engine, self.domain, promise, seed=seed)
        given = {"k": k, "epsilon": budget, "delta": delta, "objective": "k-means", "public_rng": public_rng(seed)}
        return algorithm.run(curator, **algorithm.supplied(given), **own)


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
    return read(SETS[which], data)


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
    costs: list[float] = []
    sizes: list[int] = []
    for run in range(runs):
        seed = seed_of("ipsn17", set, n, k, variant, relation, epsilon, run)
        made = load.run(variant, k=k, epsilon=epsilon, relation=relation, seed=seed)
        if made.notes.get("too_few_rows"):
            return {"refused": True, "costs": costs, "sizes": sizes}
        costs.append(load.cost(load.domain.from_lattice(made.centres)))
        sizes.append(0 if made.coreset is None else len(made.coreset.points))
    return {"refused": False, "costs": costs, "sizes": sizes}


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


KINDS: dict[str, Callable[..., Answer]] = {"baseline": baseline, "error": error, "time": timed}

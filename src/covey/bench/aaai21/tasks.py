"""What a worker does for `covey bench aaai21`: one fit, one run of ordinary k-means, or one timing of the picks."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from covey.algorithms.max_cover import cover_of, reach_of
from covey.bench.runner import Answer, Task, code
from covey.bench.sets import Floats, ball_clusters, load, seed_of, utility_set
from covey.bench.workload import mean_cost, unit_box
from covey.fit.fit import fit
from covey.noise.cover import CoverPicks
from covey.noise.source import SeededSource
from covey.post.random import public_rng
from covey.private.covers import cover
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import open_table
from covey.public import Ball
from covey.queries.cover import offsets_in

CLUSTERS = 64  # of the made-up set
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {  # name: algorithm, its parameters
    "max-cover": ("max-cover", {}),
    "jl-candidates": ("jl-candidates", {}),
    "max-cover, NOISY-AVG": ("max-cover", {"averages": "noisy-avg"}),
    "jl-candidates, NOISY-AVG": ("jl-candidates", {"averages": "noisy-avg"}),
    "jl-candidates, pure ε": ("jl-candidates", {"averages": "shortened"}),
    "lloyd": ("lloyd", {}),
    "auto": ("auto", {}),
    "max-cover, exact bound": ("max-cover", {"bound": "exact"}),
    "max-cover, NOISY-AVG, no last round": ("max-cover", {"averages": "noisy-avg", "final_round": False}),
    "jl-candidates, NOISY-AVG, no last round": ("jl-candidates", {"averages": "noisy-avg", "final_round": False}),
}


def perform(task: Task, *, data: Path | None) -> Answer:
    """Do one task; `data` is the folder of the sets."""
    asked = task.parameters
    if task.kind == "growth":
        covering = offsets_in(asked["dimensions"], reach_of(asked["dimensions"], asked["growth"]))
        seconds = seconds_of_picks(asked["n"], asked["dimensions"], asked["growth"], asked["picks"])
        return {"covering": covering, "cpu": seconds}
    rows = rows_of(asked["set"], asked["n"], data)
    if task.kind == "lloyd":
        costs = [plain_lloyd(rows, asked["k"], seed=run) for run in range(asked["runs"])]
        return {"costs": costs, "measured": code()}
    algorithm, own = SYSTEMS[asked["system"]]
    started = time.process_time()
    made = fit(
        rows,
        k=asked["k"],
        epsilon=asked["epsilon"],
        delta=len(rows) ** -1.5,
        bounds=(-1.0, 1.0) if asked["set"] == "MNIST" else Ball(1.0),
        algorithm=algorithm,
        algorithm_params=own,
        random_state=seed_of("aaai21", asked["set"], asked["k"], asked["system"], asked["run"]) % 2**31,
    )
    seconds = time.process_time() - started
    return {"costs": [mean_cost(rows, np.array(made.centres))], "cpu": seconds, "measured": code()}


@lru_cache(maxsize=2)
def rows_of(name: str, n: int | None, data: Path | None) -> Floats:
    """The rows of a set; with `n`, made-up ones of few columns in place of either."""
    if n is not None:
        return ball_clusters(d=12 if name == "MNIST" else 8, k=CLUSTERS // 8, n=n)
    if name == "MNIST":
        return load(utility_set("mnist_train"), data)
    return ball_clusters(d=100, k=CLUSTERS, n=50_000)


def plain_lloyd(rows: Floats, k: int, *, seed: int) -> float:
    """Ordinary Lloyd with 10 rounds from random rows, as the paper runs it."""
    from sklearn.cluster import KMeans

    model = KMeans(n_clusters=k, init="random", n_init=1, max_iter=10, algorithm="lloyd", random_state=seed)
    return mean_cost(rows, model.fit(rows).cluster_centers_)


def seconds_of_picks(n: int, dimensions: int, growth: float, picks: int) -> float:
    """CPU seconds of all picks at epsilon 0.32 on one round cloud of n rows in the projected space."""
    spread = 0.17 / dimensions**0.5
    rows = public_rng(seed_of("growth", n, dimensions)).normal(scale=spread, size=(n, dimensions))
    domain = unit_box(dimensions)
    engine = MemoryEngine(open_table(rows), domain)
    query = cover_of(domain, size=n, growth=growth, k=picks)
    mechanism = CoverPicks.within(epsilon=Fraction(8, 25), delta=Fraction(1, 2 * n**2))
    started = time.process_time()
    cover(engine, query, mechanism, source=SeededSource(1))
    return time.process_time() - started

"""What a worker does for each figure of Su et al. 2016. Every answer is a small dictionary of measured numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench import sets
from covey.bench.runner import Answer, Task, code
from covey.bench.sets import Floats, gaussian_clusters, seed_of
from covey.bench.workload import OWN, Workload
from covey.budget.accounting.plan import Plan
from covey.events import exactly
from covey.noise.averages import UNITS, ClampedAverages
from covey.noise.laplace import discrete_laplace
from covey.noise.source import SeededSource
from covey.post.evolution import next_generation
from covey.post.random import public_rng
from covey.post.starts import uniform_starts
from covey.queries.blocks import BlockCentres
from covey.queries.costs import NegativeCosts

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {  # a curve of a figure: Covey's algorithm and its parameters
    "lloyd": ("lloyd", {}),
    "gkm": ("blocks", {"rule": "gkm"}),
    "gkm-3k": ("blocks", {"rule": "gkm-3k"}),
    "genetic": ("genetic", {}),
    "grid": ("grid", {}),
    "grid, theta 2": ("grid", {"theta": 2.0}),
    "grid, theta 50": ("grid", {"theta": 50.0}),
    "hybrid": ("hybrid", {}),
    **{form: (form, {}) for form in OWN},
}
CANDIDATES, PARENTS = 200, 10  # of the genetic search, as in `genetic`


def perform(task: Task, *, data: Path | None) -> Answer:
    """Do one task. `data` is the folder of the data sets, or None if all rows are made up."""
    parameters = dict(task.parameters)
    name, d, k, n = (parameters.pop(each, None) for each in ("set", "d", "k", "n"))
    starts = parameters.pop("starts")
    load = synthetic(d, k, n, starts) if name is None else named(name, n, starts, data)
    for noted in ("rows", "covey"):  # what the answer depends on, though not by these words
        parameters.pop(noted, None)
    return {**KINDS[task.kind](load, **parameters), "measured": code()}


@lru_cache(maxsize=6)
def named(name: str, n: int | None, starts: int, data: Path | None) -> Workload:
    """A set of the paper; n rows are made up instead, if n is given."""
    which = next(each for each in sets.SU16 if each.name == name)
    return Workload(sets.load(which, data, rows=n), k=which.k, name=name, starts=starts)


@lru_cache(maxsize=2)
def synthetic(d: int, k: int, n: int, starts: int) -> Workload:
    return Workload(gaussian_clusters(d=d, k=k, n=n)[0], k=k, name=f"{d} {k} {n}", starts=starts)


def fit(load: Workload, *, variant: str, epsilon: float, runs: int) -> Answer:
    """The mean NICV of an algorithm. `lloyd` makes `runs` runs from each start, the others `runs` runs."""
    algorithm, own = VARIANTS[variant]
    begins = range(load.starts) if algorithm == "lloyd" else range(1)
    costs, refined, spent = [], 0, 0.0
    for start in begins:
        for run in range(runs):
            seed = seed_of(load.name, variant, epsilon, start, run)
            before = time.process_time()
            outcome = load.run(algorithm, epsilon=epsilon, seed=seed, start=start, **own)
            spent += time.process_time() - before
            costs.append(load.nicv(outcome.centres))
            refined += bool(outcome.notes.get("refined"))
    answer = {**mean_of(costs), "cpu": spent / len(costs)}
    return {**answer, "refined": refined / len(costs)} if algorithm.startswith("hybrid") else answer


def mean_of(costs: Sequence[float]) -> dict[str, float]:
    error = float(np.std(costs, ddof=1)) / len(costs) ** 0.5 if len(costs) > 1 else 0.0
    return {"nicv": float(np.mean(costs)), "se": error, "runs": len(costs)}


def kmeans(load: Workload) -> Answer:
    """Ordinary k-means: the lowest NICV of all starts (the baseline), and the mean of all starts by round."""
    _, traces = best_known(load)
    longest = max(map(len, traces))
    by_round = np.mean([trace + trace[-1:] * (longest - len(trace)) for trace in traces], axis=0)
    return {"baseline": min(map(min, traces)), "by_round": by_round.tolist(), "size": load.size}


@lru_cache(maxsize=6)
def best_known(load: Workload) -> tuple[Floats, list[list[float]]]:
    return load.kmeans()


def block_sizes(load: Workload, *, epsilon: float, exponents: Sequence[float], runs: int) -> Answer:
    """Figure 3: `blocks` with blocks of n^exponent rows, its averages without noise, and its noise on good centres.

    The last two look past the door on purpose: they take the algorithm apart, on public rows.
    """
    centres = best_known(load)[0]
    centres = centres[np.lexsort(centres.T[::-1])]  # in the order that blocks put theirs in
    table = []
    for exponent in exponents:
        many = max(1, round(load.size ** (1 - exponent)))
        query = BlockCentres(domain=load.domain, k=load.k, blocks=many)
        costs: dict[str, list[float]] = {"gkm": [], "aggregation": [], "noise": []}
        for run in range(runs):
            for what, found in one_block_size(load, query, centres, exactly(epsilon), run).items():
                costs[what].append(load.nicv(found))
        table += [{"exponent": exponent, "blocks": many, "what": what, **mean_of(costs[what])} for what in costs]
    return {"table": table}


def one_block_size(load: Workload, query: BlockCentres, centres: Floats, epsilon: Any, run: int) -> dict[str, Floats]:
    averages = ClampedAverages(epsilon)
    seed = seed_of(load.name, "block sizes", query.blocks, run)
    curator = load.curator(epsilon=epsilon, seed=seed)
    curator.reserve(Plan((averages.event(),)))
    private = curator.average_blocks(query, averages)
    source = SeededSource(seed + 1)
    outputs = load.engine.block_outputs(query, source)
    low, high = averages.ranges(outputs, load.domain.limit, source)
    laplace = discrete_laplace(low.size, inverse_scale=epsilon / (2 * low.size * UNITS), source=source)
    noise = laplace / (query.blocks * UNITS) * (high - low)  # equation (3), exactly as ClampedAverages adds it
    edge = load.domain.limit
    return {
        "gkm": private.reshape(centres.shape),
        "aggregation": outputs.mean(axis=0).reshape(centres.shape),
        "noise": np.clip(centres + noise.reshape(centres.shape), -edge, edge),
    }


def search(load: Workload, *, rounds: int, run: int) -> Answer:
    """Figure 4: the genetic search without noise, the NICV of its best set by round."""
    rng = public_rng(seed_of(load.name, "search", run))
    lower, upper = load.domain.corners
    pool = np.stack([uniform_starts(load.k, lower=lower, upper=upper, rng=rng) for _ in range(CANDIDATES)])
    trace = []
    for done in range(rounds):
        utilities = load.engine.total(NegativeCosts(pool, load.domain))
        parents = pool[np.argsort(-utilities, kind="stable")[:PARENTS]]
        trace.append(load.nicv(parents[0]))
        pool = next_generation(parents, size=CANDIDATES, spread=1 - done / rounds, lower=lower, upper=upper, rng=rng)
    return {"by_round": trace}


def run_times(load: Workload, *, epsilon: float, variants: Sequence[str], runs: int) -> Answer:
    """Figure 7: seconds of one run, algorithms in turn so that a busy moment hits all of them. Medians."""
    cpu: dict[str, list[float]] = {variant: [] for variant in variants}
    wall: dict[str, list[float]] = {variant: [] for variant in variants}
    for run in range(runs + 1):
        for variant in variants:
            algorithm, own = VARIANTS[variant]
            before = time.process_time(), time.perf_counter()
            load.run(algorithm, epsilon=epsilon, seed=run, start=run % load.starts if variant == "lloyd" else 0, **own)
            if run > 0:  # the first warms up
                cpu[variant].append(time.process_time() - before[0])
                wall[variant].append(time.perf_counter() - before[1])
    return {
        "cpu": {variant: float(np.median(times)) for variant, times in cpu.items()},
        "wall": {variant: float(np.median(times)) for variant, times in wall.items()},
        "runs": runs,
    }


KINDS: dict[str, Callable[..., Answer]] = {
    "fit": fit,
    "kmeans": kmeans,
    "blocks": block_sizes,
    "search": search,
    "time": run_times,
}

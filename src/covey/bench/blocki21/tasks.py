"""What a worker does for `covey bench blocki21`: fits of samples, their times, and what a group of people loses."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from covey.bench.runner import Answer, Task
from covey.bench.sets import DataSet, Floats, read, seed_of
from covey.bench.workload import mean_cost
from covey.fit.fit import fit
from covey.post.distances import Objective
from covey.post.random import public_rng
from covey.post.starts import sphere_packing
from covey.theory.group import Step as Threshold
from covey.theory.group import group_privacy

CABS = DataSet(
    name="cabs",
    file="sf_cab_gps",
    bounds=(("lon", -122.75, -121.9), ("lat", 37.2, 38.1)),
    k=5,
    stands_in="positions of San Francisco cabs, 2008, the first n in order of time",
)
SETS = {
    "cabs": CABS.stands_in,
    "clusters": "made up: 20 round normal clusters in a square, the j-th in proportion to 1/j",
}
CLUSTERS = 20
PIECE = 10**6  # rows that a file of many is written in
BETWEEN = 40  # points of a curve up to where nothing is left to lose
OUTPUTS = 60  # whole numbers beyond the group's size that the brute force looks at, on either side

Laws = NDArray[np.float64]


def perform(task: Task, *, data: Path | None) -> Answer:
    """Do one task; `data` is the folder of the sets."""
    asked = {name: value for name, value in task.parameters.items() if name != "covey"}
    if task.kind == "fit":
        return fits(**asked, data=data)
    work: dict[str, Callable[..., Answer]] = {"time": times, "group": group, "copies": copies}
    return work[task.kind](**asked)


def fits(
    *,
    data: Path | None,
    which: str,
    n: int,
    k: int,
    objective: Objective,
    sample: int | str | None,
    relation: str,
    epsilon: float,
    runs: int,
) -> Answer:
    """Mean costs of fits of a sample, how large it was, and the mean cost of other samples as a part of all rows'."""
    rows = rows_of(which, n, data)
    costs, parts, sizes = [], [], []
    for run in range(runs):
        seed = seed_of("blocki21", which, n, k, objective, sample, relation, run)
        made = fit(
            rows,
            k=k,
            epsilon=epsilon,
            bounds=(-1.0, 1.0),
            objective=objective,
            neighbours=relation,
            sample=sample,
            random_state=seed % 2**31,
        )
        centres, told = np.array(made.centres), made.certificate.parameters.get("sample", {})
        costs.append(mean_cost(rows, centres, objective))
        sizes.append(told.get("size", told.get("rate", 1.0) * n))
        if isinstance(sample, int):
            other = rows[public_rng(seed).choice(n, sample, replace=False)]
            parts.append(mean_cost(other, centres, objective) / costs[-1])
    return {"costs": costs, "parts": parts, "size": float(np.mean(sizes))}


@lru_cache(maxsize=2)
def rows_of(name: str, n: int, data: Path | None) -> Floats:
    """The first n rows of a set; those of the second need no file."""
    if name == "cabs":
        assert data is not None
        return read(CABS, data)[:n]
    rng = public_rng(seed_of("unequal clusters"))
    edge = np.ones(2)
    middles = sphere_packing(CLUSTERS, lower=-edge, upper=edge, rng=rng)
    weights = 1 / np.arange(1, CLUSTERS + 1)
    label = rng.choice(CLUSTERS, n, p=weights / weights.sum())
    return np.clip(middles[label] + rng.normal(scale=0.05, size=(n, 2)), -1.0, 1.0)


def times(*, n: int, k: int, sample: int, epsilon: float, runs: int) -> Answer:
    """CPU seconds of a fit of n rows in a memory-mapped file: of a sample (the least of some runs), and of all."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, 2))
        for first in range(0, n, PIECE):
            mapped[first : first + PIECE] = rows_of("clusters", min(PIECE, n - first), None)
        mapped.flush()
        del mapped
        rows = np.load(path, mmap_mode="r")

        def seconds(sample: int | None) -> float:
            started = time.process_time()
            fit(rows, k=k, epsilon=epsilon, bounds=(-1.0, 1.0), sample=sample, random_state=1)
            return time.process_time() - started

        seconds(sample)  # imports what a fit needs
        return {"sample_cpu": min(seconds(sample) for _ in range(runs)), "all_cpu": seconds(None)}


def group(*, epsilon: float, rate: float, group: int) -> Answer:
    """What is promised to a group by each threshold, next to what a mechanism that loses all it may does lose."""
    promised = group_privacy(epsilon, group=group, rate=rate)
    laws = laws_of(group, epsilon)
    mixed = binomial(group, rate) @ laws
    printed = {step.epsilon: step for step in promised.curve if step.threshold % max(1, group // 40) == 0}
    between = np.linspace(0.0, 1.05 * promised.amplified.epsilon, BETWEEN).tolist()
    curve = [
        {
            "at": at,
            "printed": printed[at].delta if at in printed else None,
            "finer": promised.delta_at(at),
            "truth": hockey_stick(mixed, laws[0], at),
        }
        for at in sorted({*printed, *between})
    ]
    ends = {"naive": promised.naive.epsilon, "amplified": promised.amplified.epsilon}
    loss = largest_loss(mixed, laws[0])
    return {"curve": curve, **ends, "largest_loss": loss, "enough": enough(promised.curve)}


def enough(curve: tuple[Threshold, ...], *, delta: float = 1e-6) -> int:
    """The smallest threshold with a delta that is negligible."""
    return next(step.threshold for step in curve if step.delta <= delta)


def copies(*, epsilon: float, share: float, n: int) -> Answer:
    """What one of n people loses at most, if share·n rows are drawn with and without putting them back."""
    drawn = round(share * n)
    laws = laws_of(OUTPUTS, epsilon)
    with_them = binomial(drawn, 1 / n, most=OUTPUTS) @ laws
    without = (1 - share) * laws[0] + share * laws[1]
    return {"put_back": largest_loss(with_them, laws[0]), "kept_out": largest_loss(without, laws[0])}


def laws_of(group: int, epsilon: float) -> Laws:
    """By members in the sample: a whole number, with chances in proportion to e^(-epsilon·|it - members|)."""
    laws = np.exp(-epsilon * np.abs(np.arange(-OUTPUTS, group + OUTPUTS + 1) - np.arange(group + 1)[:, None]))
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def binomial(many: int, rate: float, *, most: int | None = None) -> Laws:
    """The chances of 0, 1, ... of `many` coins."""
    chances = [math.exp(_log_binomial(many, j, rate)) for j in range(min(many, most or many) + 1)]
    return np.array([*chances, *[0.0] * ((most or many) + 1 - len(chances))])


def _log_binomial(many: int, j: int, rate: float) -> float:
    choices = math.lgamma(many + 1) - math.lgamma(j + 1) - math.lgamma(many - j + 1)
    return choices + j * math.log(rate) + (many - j) * math.log1p(-rate)


def hockey_stick(first: Laws, second: Laws, epsilon: float) -> float:
    """The least delta at this epsilon for both directions between two laws."""
    grown = math.exp(epsilon)
    return float(max(np.maximum(first - grown * second, 0).sum(), np.maximum(second - grown * first, 0).sum()))


def largest_loss(first: Laws, second: Laws) -> float:
    return float(np.abs(np.log(first / second)).max())

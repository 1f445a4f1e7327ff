"""When `hybrid` should make its round: its rule, the printed one, always and never.

    python benchmarks/hybrid_rule.py --data DIR      # a few minutes of one core

NICV of a grid with all of epsilon and of a grid with half of it and then a round, and which of the two each rule takes
for the exact number of rows: on made-up rows, with which the rule's constant was chosen, and on public sets, with which
it was not. Writes benchmarks/results/hybrid/rule.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from covey.algorithms.hybrid import RHO, hybrid_threshold, round_pays
from covey.bench import sets
from covey.bench.sets import Floats, seed_of
from covey.bench.workload import Workload
from covey.post.random import public_rng

LEFT = 24 / 25  # of epsilon, after the number of rows
RUNS, STARTS = 4, 10
S_SETS = [replace(sets.SU16[0], name=name, file=name.lower()) for name in ("S2", "S3", "S4")]
RESULTS = Path(__file__).parent / "results" / "hybrid" / "rule.csv"


def made_up(d: int, k: int, n: int) -> Floats:
    """Clusters of unequal weights and widths in all or in the middle half of the box."""
    rng = public_rng(seed_of(f"m {d} {k} {n}"))
    room = rng.choice([1.0, 0.5])
    middles = rng.uniform(-0.8, 0.8, (k, d)) * room
    label = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    widths = rng.uniform(0.05, 0.25, (k, d)) * room
    return np.clip(middles[label] + rng.normal(size=(n, d)) * widths[label], -1, 1)


def loads(data: Path) -> Iterator[tuple[str, Workload, tuple[float, ...]]]:
    for d in (2, 3, 4, 6, 8, 10):
        for k in (3, 8):
            for n in (5_000, 40_000):
                name = f"{d} columns, k = {k}, {n} rows"
                yield "made up", Workload(made_up(d, k, n), k=k, name=name, starts=5), (0.05, 0.2, 1.0)
    for which in (*sets.SU16, *S_SETS):
        load = Workload(sets.load(which, data), k=which.k, name=which.name, starts=STARTS)
        yield "public", load, (0.05, 0.1, 0.2, 0.5, 1.0)


def measured(load: Workload, epsilon: float) -> dict[str, float]:
    """The mean NICV without a round and with one, and the answers of the rules."""
    known = {"n": load.size, "k": load.k, "theta": 10.0, "rho": RHO}
    costs = {
        way: np.mean(
            [
                load.nicv(load.run(way, epsilon=epsilon, seed=seed_of(load.name, epsilon, run)).centres)
                for run in range(RUNS)
            ]
        )
        for way in ("grid", "hybrid, forced")
    }
    printed = LEFT * epsilon >= hybrid_threshold(d=load.domain.dimension, **known)
    expected = round_pays(load.domain, epsilon=LEFT * epsilon, **known)
    taken = {"never": False, "always": True, "printed": printed, "expected": expected}
    return {rule: float(costs["hybrid, forced" if made else "grid"]) for rule, made in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the Parquet files")
    data = parser.parse_args().data
    lines = []
    for kind, load, epsilons in loads(data):
        for epsilon in epsilons:
            found = measured(load, epsilon)
            lines.append(
                [kind, load.name, load.domain.dimension, load.k, epsilon, *(f"{x:.5g}" for x in found.values())]
            )
            print(*lines[-1], sep="; ", flush=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rows", "set", "d", "k", "epsilon", "never", "always", "printed", "expected"])
        writer.writerows(lines)
    for kind in ("made up", "public"):
        table = np.array([line[5:] for line in lines if line[0] == kind], dtype=np.float64)
        beyond = table / table.min(axis=1, keepdims=True)
        print(
            kind,
            "beyond the better way, geometric mean and worst:",
            np.exp(np.log(beyond).mean(axis=0)),
            beyond.max(axis=0),
        )


if __name__ == "__main__":
    main()

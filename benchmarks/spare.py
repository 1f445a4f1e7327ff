"""`auto` with centres to spare against `auto` without them: the same rows, seeds and noise multipliers.

    COVEY_DATA=FOLDER python benchmarks/spare.py

writes benchmarks/results/spare.json, a cell at a time; docs/decisions/0031 shows it. Seeded, so for reading only: the
ratios of `covey bench utility` have real noise. The families are drawn from numbers that were not looked at while the
constants were chosen.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from covey.algorithms.auto import shares
from covey.bench.hard.run import is_family, k_of, rows_of
from covey.bench.sets import data_folder
from covey.bench.utility.tasks import BASELINES, delta_of
from covey.bench.workload import mean_cost
from covey.files import write_whole
from covey.fit.fit import fit
from covey.public import Ball

OUT = Path(__file__).parent / "results" / "spare.json"
FIRST_DRAW, FIRST_SEED, DRAWS = 1000, 9000, 4
NEVER = (1.0, 0.0)  # no noise is between
CASES = {  # runs, of one cell
    "letter": 20,
    "gas_emissions": 20,
    "lifesci": 20,
    "few factors": 24,
    "a sliver, six columns": 40,
    "64 clusters, 20 columns": 12,
    "gaussians_64": 10,
    "64 clusters, 100 columns": 4,
}
OBJECTIVES = {"letter": ("k-means", "k-median"), "gas_emissions": ("k-means", "k-median")}


def cost(rows: np.ndarray, name: str, *, epsilon: float, seed: int, objective: str) -> float:
    release = fit(
        rows,
        k=k_of(name),
        epsilon=epsilon,
        delta=delta_of(len(rows)),
        bounds=Ball(1.0) if name == "gaussians_64" else (-1.0, 1.0),
        objective=objective,
        random_state=seed,
        errors="none",
    )
    return mean_cost(rows, np.array(release.centres), objective)


def cell(name: str, epsilon: float, objective: str, runs: int) -> dict[str, object]:
    """Costs relative to no privacy, without and with; and the geometric mean of their quotients with its error."""
    ratios, with_spare, best = [], shares.SPARE_NOISE, {}
    for run in range(runs):
        draw = FIRST_DRAW + run % DRAWS if is_family(name) else 0
        rows = rows_of(name, None, None, draw, data_folder(None))
        if draw not in best:
            best[draw] = mean_cost(rows, BASELINES[objective](rows, k=k_of(name)), objective)
        pair = []
        for noise in (NEVER, with_spare):
            shares.SPARE_NOISE = noise
            found = cost(rows, name, epsilon=epsilon, seed=FIRST_SEED + run, objective=objective)
            pair.append(found / best[draw])
        ratios.append(pair)
    shares.SPARE_NOISE = with_spare
    table = np.array(ratios)
    change = np.log(table[:, 1] / table[:, 0])
    return {
        "set": name,
        "objective": objective,
        "epsilon": epsilon,
        "runs": runs,
        "without": [float(f"{each:.5g}") for each in table[:, 0]],
        "with": [float(f"{each:.5g}") for each in table[:, 1]],
        "change": float(f"{np.exp(change.mean()):.4g}"),
        "se": float(f"{change.std(ddof=1) / runs**0.5:.2g}"),
    }


def main() -> None:
    cells: list[dict[str, object]] = []
    for name, runs in CASES.items():
        for objective in OBJECTIVES.get(name, ("k-means",)):
            for epsilon in (0.1, 0.5, 1.0):
                cells.append(cell(name, epsilon, objective, runs))
                what = "`auto` with centres to spare against without, paired"
                write_whole(OUT, json.dumps({"what": what, "cells": cells}, indent=1).encode())
                print({key: value for key, value in cells[-1].items() if key not in ("with", "without")}, flush=True)


if __name__ == "__main__":
    main()

"""The slider's levels against `auto`: what centres of the least private level cost, and whether detail ascends.

    python benchmarks/levels.py [--runs 12] [--data FOLDER]      # about five minutes of one core

On the 2-d sets of `covey bench utility`, in columns scaled to [-1, 1]. A run is one look at all usual levels and one
fit of `auto` at the epsilon of the least private one; costs are those of all rows. Writes
benchmarks/results/levels.json: for each set the mean cost of each level over that of `auto`, with its standard error,
the number of runs whose points and told-apart widths are monotone, and their means.

Goal: at most 1.003 at the least private level.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey import KMeans
from covey.bench.harness import machine, one_row_a_line, rounded
from covey.bench.sets import UTILITY, DataSet, data_folder, read
from covey.errors import PrivacyWarning
from covey.files import write_whole
from covey.levels import fit_levels
from covey.post.distances import nearest

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results" / "levels.json"
GOAL = 1.003
BOUNDS = [(-1, 1), (-1, 1)]


def cost(rows: Floats, centres: Floats) -> float:
    return float(np.square(rows - centres[nearest(rows, centres)]).sum(axis=1).mean())


def measure(which: DataSet, rows: Floats, runs: int) -> dict[str, Any]:
    auto, levels, points, widths = [], [], [], []
    for run in range(runs):
        found = fit_levels(rows, bounds=BOUNDS, random_state=run)
        every = range(len(found.levels))
        model = KMeans(which.k, epsilon=found.epsilon, bounds=BOUNDS, random_state=run, errors="none").fit(rows)
        auto.append(cost(rows, model.cluster_centers_))
        levels.append([cost(rows, found.clusters(level, which.k)[0]) for level in every])
        told = [found.expected(level) for level in every]
        points.append([each["points"] for each in told])
        widths.append([each["cell_size"][0] for each in told])
    each = np.array(levels) / np.mean(auto)
    apart = each[:, -1] - np.array(auto) / np.mean(auto)
    return {
        "set": which.name,
        "rows": len(rows),
        "k": which.k,
        "runs": runs,
        "cells_per_axis": found.per_axis,
        "ratios": each.mean(axis=0).tolist(),
        "error": float(apart.std(ddof=1) / np.sqrt(runs)),
        "most": float(each[:, -1].max()),
        "points": np.mean(points, axis=0).tolist(),
        "widths": np.mean(widths, axis=0).tolist(),
        "ascending": int(((np.diff(points) >= 0).all(axis=1) & (np.diff(widths) <= 0).all(axis=1)).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the slider's levels against auto.")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--data", type=Path)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", PrivacyWarning)
    folder, found = data_folder(chosen.data), []
    for which in (each for each in UTILITY if each.dimension == 2):
        found.append(measure(which, read(which, folder), chosen.runs))
        print(json.dumps(rounded(found[-1])), flush=True)
    document = {"goal": GOAL, "machine": machine(), "sets": rounded(found, digits=5)}
    write_whole(RESULTS, (one_row_a_line(document) + "\n").encode())


if __name__ == "__main__":
    main()

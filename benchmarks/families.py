"""The twelve families of the hard suite by `auto` as it is and as it was at an earlier commit, on the same rows.

    git worktree add ../earlier 5e63c3c
    python benchmarks/families.py ../earlier      # about twenty minutes of one core

Both are asked by their public interface, each in a process of its own, with real noise: twenty runs of each family and
epsilon, on five drawings in turn. Writes benchmarks/results/families.json: of each case the mean cost relative to no
privacy, then and now, and the geometric mean over the families of the one divided by the other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench.hard.families import FAMILIES, Family
from covey.bench.sets import Floats
from covey.bench.utility.report import geometric_mean
from covey.bench.utility.tasks import BASELINES, delta_of
from covey.bench.workload import mean_cost
from covey.files import write_whole

EPSILONS = (0.1, 0.5, 1.0)
DRAWS, RUNS = 5, 20
HERE = Path(__file__).resolve().parents[1]
RESULTS = HERE / "benchmarks" / "results" / "families.json"
FITS = """
import sys
import numpy as np
from covey import KMeans

rows, k, epsilon, delta, runs, out = np.load(sys.argv[1]), *sys.argv[2:]
model = KMeans(n_clusters=int(k), epsilon=float(epsilon), delta=float(delta), bounds=(-1.0, 1.0))
np.save(out, [model.fit(rows).cluster_centers_ for _ in range(int(runs))])
"""


def costs(code: Path, rows: Path, which: Family, epsilon: float, folder: Path) -> list[float]:
    """What the centres of some runs cost, fitted by the Covey that is in a folder."""
    found, there = folder / "centres.npy", np.load(rows)
    asked = [rows, which.k, epsilon, delta_of(len(there)), RUNS // DRAWS, found]
    place = {**os.environ, "PYTHONPATH": str(code / "src")}
    subprocess.run([sys.executable, "-c", FITS, *map(str, asked)], env=place, check=True)
    return [mean_cost(there, centres, "k-means") for centres in np.load(found)]


def measure(which: Family, codes: dict[str, Path], folder: Path) -> dict[float, dict[str, list[float]]]:
    """The ratios of every run, by epsilon, then and now."""
    ratios: dict[float, dict[str, list[float]]] = {each: {name: [] for name in codes} for each in EPSILONS}
    for draw in range(DRAWS):
        rows: Floats = which.rows(draw)
        best = mean_cost(rows, BASELINES["k-means"](rows, k=which.k), "k-means")
        np.save(folder / "rows.npy", rows)
        for epsilon in EPSILONS:
            for name, code in codes.items():
                paid = costs(code, folder / "rows.npy", which, epsilon, folder)
                ratios[epsilon][name] += [each / best for each in paid]
    return ratios


def commit(code: Path) -> str:
    asked = ["git", "-C", str(code), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("earlier", type=Path, help="a checkout of an earlier commit")
    codes = {"then": parser.parse_args().earlier, "now": HERE}
    cells: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for which in FAMILIES:
            for epsilon, ratios in measure(which, codes, Path(folder)).items():
                told = {name: summary(np.array(each)) for name, each in ratios.items()}
                cells.append({"family": which.name, "epsilon": epsilon, "runs": RUNS, **told})
                print(cells[-1], flush=True)
    means = [{"epsilon": each, **over([row for row in cells if row["epsilon"] == each])} for each in EPSILONS]
    commits = {name: commit(code) for name, code in codes.items()}
    write_whole(RESULTS, (json.dumps({"commits": commits, "means": means, "cells": cells}, indent=1) + "\n").encode())


def summary(ratios: Floats) -> dict[str, float]:
    """Of some runs."""
    error = float(ratios.std(ddof=1)) / len(ratios) ** 0.5
    return {"mean": float(ratios.mean()), "se": error, "median": float(np.median(ratios))}


def over(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means over the families, then and now; now divided by then, with its standard error."""
    found = {name: geometric_mean([row[name]["mean"] for row in rows]) for name in ("then", "now")}
    relative = found["now"] / found["then"]
    parts = [row[name]["se"] / row[name]["mean"] for row in rows for name in ("then", "now")]
    error = relative * float(np.sqrt(np.square(parts).sum())) / len(rows)
    return {**found, "relative": relative, "se": error, "families": len(rows)}


if __name__ == "__main__":
    main()

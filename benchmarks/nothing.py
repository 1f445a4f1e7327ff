"""`auto` against knowing nothing: the middle of the domain, and a noisy mean that spends all of epsilon.

    python benchmarks/nothing.py      # about fifteen minutes of one core

Rows are made up: six blobs in the domain, one tight blob in a corner of it, rows everywhere. Of every cell (rows,
columns, epsilon) RUNS fits are made, and their cost is divided by that of the middle alone, and by that of the better
of the middle and the noisy mean (the median of its draws). Writes benchmarks/results/nothing.json: for each form,
relation and objective the cells with their medians and 95th percentiles; `luck` is the 95th percentile of the better
of both itself: a mean that spends all of epsilon has bad draws too.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey import KMeans, KMedian
from covey.bench.harness import machine
from covey.errors import PrivacyWarning
from covey.files import write_whole

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results" / "nothing.json"
RUNS, DRAWS, K = 20, 100, 6
EPSILONS = (0.01, 0.1, 1.0)
ROWS = (50, 1_000, 6_435)
ASKED = (  # form, relation, objective, columns
    ("pure", "add-remove", "k-means", (2, 4, 6, 36, 100)),
    ("with a delta", "add-remove", "k-means", (6, 36, 100)),
    ("pure", "replace-one", "k-means", (2, 6, 36)),
    ("pure", "add-remove", "k-median", (2, 6, 36)),
)


def blobs(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.uniform(-0.7, 0.7, (K, d))[rng.integers(0, K, n)] + 0.1 * rng.standard_normal((n, d))


KINDS: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "six blobs": blobs,
    "one blob in a corner": lambda rng, n, d: rng.normal(0.6, 0.1, (n, d)),
    "everywhere": lambda rng, n, d: rng.uniform(-1, 1, (n, d)),
}


def cost(rows: Floats, centres: Floats, objective: str) -> float:
    square = np.square(rows).sum(axis=1)[:, None] - 2 * rows @ centres.T + np.square(centres).sum(axis=1)
    nearest = np.maximum(square.min(axis=1), 0)
    return float(nearest.sum() if objective == "k-means" else np.sqrt(nearest).sum())


def cell(kind: str, n: int, d: int, epsilon: float, *, form: str, relation: str, objective: str) -> dict[str, Any]:
    rng = np.random.default_rng([n, d, *map(ord, kind)])
    rows = np.clip(KINDS[kind](rng, n, d), -1, 1)
    sides = 2 if relation == "replace-one" else 1
    drawn = rows.mean(axis=0) + rng.laplace(0, sides * d / (n * epsilon), (DRAWS, d))
    means = [cost(rows, each[None], objective) for each in np.clip(drawn, -1, 1)]
    mean, high = (float(np.quantile(means, q)) for q in (0.5, 0.95))
    middle = cost(rows, np.zeros((1, d)), objective)
    estimator = KMeans if objective == "k-means" else KMedian
    delta = None if form == "pure" else min(0.01, n**-1.5)
    costs = np.empty(RUNS)
    for run in range(RUNS):
        model = estimator(
            K, epsilon=epsilon, delta=delta, bounds=(-1, 1), neighbours=relation, random_state=run, errors="none"
        )
        costs[run] = cost(rows, model.fit(rows).cluster_centers_, objective)
    found = {"rows": kind, "n": n, "d": d, "epsilon": epsilon}
    for name, least in (("middle", middle), ("better", min(middle, mean))):
        found[name] = [round(float(np.quantile(costs / least, q)), 3) for q in (0.5, 0.95)]
    found["luck"] = round(min(middle, high) / min(middle, mean), 3)
    return found


def main() -> None:
    warnings.simplefilter("ignore", PrivacyWarning)
    parts = []
    for form, relation, objective, columns in ASKED:
        asked = {"form": form, "relation": relation, "objective": objective}
        cells = [
            cell(kind, n, d, epsilon, **asked) for kind in KINDS for d in columns for n in ROWS for epsilon in EPSILONS
        ]
        parts.append({**asked, "cells": cells})
        print(form, relation, objective, "worst", max(each["middle"] for each in cells), flush=True)
    write_whole(RESULTS, (json.dumps({"runs": RUNS, "k": K, "machine": machine(), "parts": parts}) + "\n").encode())


if __name__ == "__main__":
    main()

"""What `covey plan` predicts from: how far `auto` is from ordinary k-means on many made-up data sets.

    python benchmarks/plan.py            measures, fits the forecast: src/covey/forecast.json, results/plan.json
    python benchmarks/plan.py --check    compares it with results/utility (the suite), writes results/plan_check.json

The sets are mixtures of clusters of random number, size, shape and separation, in boxes of 1 to 100 columns, some
in a corner of the box or with heavy tails; made up from a seed, never tuned to the suite.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans as PlainKMeans

import covey
from covey.files import write_whole
from covey.fit.fit import fit
from covey.theory.forecast import features, forecast

SETS = 260
EPSILONS = 3  # for each set, log-uniform from 0.05 to 4
RESULTS = Path(__file__).parent / "results"
MODEL = Path(covey.__file__).parent / "forecast.json"
QUANTILES = (0.1, 0.5, 0.9)


def made_up(rng: np.random.Generator) -> tuple[NDArray[np.float64], int]:
    """Rows in [-1, 1]^d, and the number of clusters to look for."""
    d = int(rng.choice([1, 2, 2, 2, 3, 4, 5, 6, 8, 10, 16, 30, 60, 100]))
    n = int(np.exp(rng.uniform(np.log(1_000), np.log(100_000 if d <= 30 else 30_000))))
    k = int(np.exp(rng.uniform(np.log(2), np.log(40))))
    middles = rng.uniform(-0.8, 0.8, (k, d))
    spread = np.exp(rng.uniform(np.log(0.02), np.log(0.3)))
    shares = rng.dirichlet(np.full(k, np.exp(rng.uniform(np.log(0.5), np.log(20)))))
    label = rng.choice(k, n, p=shares)
    sizes = spread * np.exp(rng.normal(0, 0.4, (k, d)))
    away = rng.standard_t(3, (n, d)) if rng.random() < 0.2 else rng.normal(size=(n, d))
    rows = middles[label] + sizes[label] * away
    if rng.random() < 0.25:
        rows = rng.uniform(-0.7, 0.7, d) + rows * np.exp(rng.uniform(np.log(0.02), np.log(0.5)))
    return np.clip(rows, -1, 1), k


def cost(rows: NDArray[np.float64], centres: Any) -> float:
    c = np.asarray(centres)
    total = 0.0
    for start in range(0, len(rows), 8192):
        x = rows[start : start + 8192]
        total += float(
            np.maximum(np.square(c).sum(axis=1) - 2 * x @ c.T, -np.inf).min(axis=1).sum() + np.square(x).sum()
        )
    return total


def measure(number: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng([2026, number])
    rows, k = made_up(rng)
    n, d = rows.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = min(cost(rows, PlainKMeans(k, n_init=3, random_state=i).fit(rows).cluster_centers_) for i in range(2))
    found = []
    for _ in range(EPSILONS):
        epsilon = round(float(np.exp(rng.uniform(np.log(0.05), np.log(4)))), 4)
        for delta in (None, n**-1.5):
            if delta is not None and d <= 4:
                continue
            release = fit(rows, k=k, epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm="auto")
            ratio = cost(rows, release.centres) / best
            found.append({"n": n, "d": d, "k": k, "epsilon": epsilon, "pure": delta is None, "ratio": round(ratio, 5)})
    return found


def fitted(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Quantile regressions of ln(ratio - 1) for up to 4 columns, and beyond with and without a delta."""
    from sklearn.linear_model import QuantileRegressor

    model: dict[str, Any] = {}
    for name, chosen in (
        ("tree", [row for row in rows if row["d"] <= 4]),
        ("subspace", [row for row in rows if row["d"] > 4 and not row["pure"]]),
        ("subspace, pure", [row for row in rows if row["d"] > 4 and row["pure"]]),
    ):
        x = np.array([features(n=r["n"], d=r["d"], k=r["k"], epsilon=r["epsilon"]) for r in chosen])
        y = np.log(np.maximum(np.array([row["ratio"] for row in chosen]) - 1, 1e-4))
        lines = {}
        for quantile in QUANTILES:
            line = QuantileRegressor(quantile=quantile, alpha=0.0, solver="highs").fit(x, y)
            lines[str(quantile)] = [float(line.intercept_), *map(float, line.coef_)]
        ranges = [[float(column.min()), float(column.max())] for column in x.T]
        model[name] = {"measured": len(chosen), "quantiles": lines, "ranges": ranges}
    return model


def check() -> None:
    """The forecast beside what the suite of `covey bench utility` measured: how many cells are within 30%."""
    table = []
    for file in sorted((RESULTS / "utility").glob("covey-auto*.json")):
        report = json.loads(file.read_text())
        if report["objective"] != "k-means":
            continue
        for cell in report["cells"]:
            size = {name: cell[name] for name in ("n", "d", "k", "epsilon")}
            expected = forecast(**size, delta=cell["delta"])
            table.append(
                {
                    "set": cell["set"],
                    **size,
                    "delta": cell["delta"],
                    "measured": cell["ratio"],
                    "forecast": round(expected.ratio, 4),
                    "range": [round(expected.low, 4), round(expected.high, 4)],
                    "within_30_percent": bool(abs(expected.ratio / cell["ratio"] - 1) <= 0.3),
                    "in_range": bool(expected.low <= cell["ratio"] <= expected.high),
                }
            )
    shares = {name: sum(row[name] for row in table) / len(table) for name in ("within_30_percent", "in_range")}
    lines = ",\n".join(map(json.dumps, table))
    text = f'{{"what": "ratio of auto to ordinary k-means, forecast and measured", "shares": {json.dumps(shares)}, '
    write_whole(RESULTS / "plan_check.json", f'{text}"cells": [\n{lines}\n]}}\n'.encode())
    print(f"{len(table)} cells: {shares['within_30_percent']:.0%} within 30%, {shares['in_range']:.0%} in the range")


def main() -> None:
    store = RESULTS / "plan.jsonl"
    done = {}
    if store.exists():
        done = {each["set"]: each["rows"] for each in map(json.loads, store.read_text().splitlines())}
    for number in range(SETS):
        if number not in done:
            done[number] = measure(number)
            with store.open("a") as file:
                file.write(json.dumps({"set": number, "rows": done[number]}) + "\n")
            print(f"{number + 1} of {SETS}", flush=True)
    rows = [row for number in sorted(done) for row in done[number]]
    model = fitted(rows)
    write_whole(MODEL, (json.dumps(model, indent=1) + "\n").encode())
    lines = ",\n".join(map(json.dumps, rows))
    write_whole(RESULTS / "plan.json", f'{{"covey": "{covey.__version__}", "rows": [\n{lines}\n]}}\n'.encode())
    print(f"{len(rows)} fits; wrote {MODEL.name} and plan.json")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        main()

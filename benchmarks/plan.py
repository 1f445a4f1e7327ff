"""What `covey plan` predicts from: how far `auto` is from ordinary k-means on many made-up data sets.

    python benchmarks/plan.py            measures (15 minutes), writes results/plan.json and theory/forecast.json
    python benchmarks/plan.py --fit      the forecast again, from results/plan.json
    python benchmarks/plan.py --check    compares it with fits of public sets, writes results/plan_check.json

The sets are mixtures of clusters of random number, size, shape and separation, in boxes of 1 to 100 columns, some in a
corner of the box, with heavy tails or a background, or with another number of clusters than is asked for; made up from
a seed, never tuned to the sets that are new in the check. For each fit: what the centres cost, how far noisy sizes are
from the numbers of rows nearest the centres, and how far centres are from those of ordinary k-means.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans as PlainKMeans

import covey
from covey.bench.sets import UTILITY, DataSet, data_folder, read
from covey.files import write_whole
from covey.fit.fit import fit
from covey.theory.forecast import LEAST, MEASURES, QUANTILES, features, forecast

Floats = NDArray[np.float64]
SETS = 800
EPSILONS = 2  # for each set, log-uniform from 0.03 to 8
RESULTS = Path(__file__).parent / "results"
MODEL = Path(covey.__file__).parent / "theory" / "forecast.json"
SHAPE = ("n", "d", "k", "epsilon", "delta")
MOST_CHECKED = 100_000  # rows of a public set, the first of a shuffle


def _square(file: str, k: int, most: float) -> DataSet:
    return DataSet(name=file, file=file, bounds=(("x", 0, most), ("y", 0, most)), k=k)


def _map(file: str, k: int, *, lon: tuple[float, float], lat: tuple[float, float]) -> DataSet:
    return DataSet(name=file, file=file, bounds=(("lon", *lon), ("lat", *lat)), k=k)


NEW = (  # that had no part in the choice of the forecast's form
    *(_square(name, 15, 1e6) for name in ("s2", "s3")),
    *(_square(name, k, 65_535) for name, k in (("a2", 35), ("a3", 50))),
    _square("lsun", 3, 6),
    _map("mopsi_finland", 10, lon=(19, 32), lat=(59, 71)),
    _map("geolife_sample", 8, lon=(73, 135), lat=(18, 54)),
    _map("world_cities", 12, lon=(-180, 180), lat=(-90, 90)),
    DataSet(
        name="sf_cab_trips",
        file="sf_cab_trips",
        bounds=(
            ("pickup_lon", -122.75, -121.9),
            ("pickup_lat", 37.2, 38.1),
            ("dropoff_lon", -122.75, -121.9),
            ("dropoff_lat", 37.2, 38.1),
        ),
        k=6,
    ),
)
CHECKED = (*(each for each in UTILITY if not each.ball and each.name != "mnist_train"), *NEW)


def made_up(rng: np.random.Generator) -> tuple[Floats, int]:
    """Rows in [-1, 1]^d, and the number of clusters to look for."""
    d = int(rng.choice([1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 16, 30, 60, 100]))
    n = int(np.exp(rng.uniform(np.log(500), np.log(200_000 if d <= 30 else 30_000))))
    k = int(np.exp(rng.uniform(np.log(2), np.log(60))))
    clusters = k if rng.random() < 0.6 else max(1, round(k * np.exp(rng.uniform(np.log(0.4), np.log(4)))))
    middles = rng.uniform(-0.8, 0.8, (clusters, d))
    spread = np.exp(rng.uniform(np.log(0.02), np.log(0.3)))
    shares = rng.dirichlet(np.full(clusters, np.exp(rng.uniform(np.log(0.5), np.log(20)))))
    label = rng.choice(clusters, n, p=shares)
    sizes = spread * np.exp(rng.normal(0, 0.4, (clusters, d)))
    away = rng.standard_t(3, (n, d)) if rng.random() < 0.2 else rng.normal(size=(n, d))
    rows = middles[label] + sizes[label] * away
    if rng.random() < 0.2:
        strewn = rng.random(n) < rng.uniform(0.01, 0.2)
        rows[strewn] = rng.uniform(-1, 1, (int(strewn.sum()), d))
    if rng.random() < 0.25:
        rows = rng.uniform(-0.7, 0.7, d) + rows * np.exp(rng.uniform(np.log(0.02), np.log(0.5)))
    return np.clip(rows, -1, 1), k


def nearest(rows: Floats, centres: Floats) -> tuple[float, NDArray[np.intp]]:
    """What centres cost, and how many rows are nearest to each."""
    total, sizes = 0.0, np.zeros(len(centres), dtype=np.intp)
    for start in range(0, len(rows), 8192):
        x = rows[start : start + 8192]
        away = np.square(centres).sum(axis=1) - 2 * x @ centres.T
        total += float(away.min(axis=1).sum() + np.square(x).sum())
        sizes += np.bincount(away.argmin(axis=1), minlength=len(centres))
    return total, sizes


def moved(ordinary: Floats, private: Floats) -> Floats:
    """How far centres moved, in widths of the domain, of the clusters found: nearer than half-way to the next one."""
    away = cdist(ordinary, private)
    rows, columns = linear_sum_assignment(away)
    between = cdist(ordinary, ordinary) + np.diag(np.full(len(ordinary), np.inf))
    distance: Floats = away[rows, columns]
    return distance[distance < between.min(axis=1) / 2] / 2


def far(distances: Floats) -> float | None:
    return round(float(np.quantile(distances, 0.9)), 5) if distances.size else None


def ordinary_centres(rows: Floats, k: int, *, seed: int) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fewer different rows than clusters
        found: Floats = PlainKMeans(k, n_init=6, random_state=seed).fit(rows).cluster_centers_
    return found


def measure(rows: Floats, k: int, epsilons: list[float], seed: int) -> Iterator[dict[str, Any]]:
    """For each epsilon, without a delta and where it matters with one, the errors of a fit."""
    n, d = rows.shape
    ordinary, again = (ordinary_centres(rows, k, seed=start) for start in (seed, seed + 10**6))
    best, _ = nearest(rows, ordinary)
    for epsilon in epsilons:
        for delta in (None, n**-1.5)[: 1 if d <= 4 else 2]:
            release = fit(
                rows,
                k=k,
                epsilon=epsilon,
                delta=delta,
                bounds=(-1, 1),
                algorithm="auto",
                random_state=seed,
                errors="none",
            )
            centres = np.asarray(release.centres)
            cost, sizes = nearest(rows, centres)
            found = moved(ordinary, centres)
            yield {
                "n": n,
                "d": d,
                "k": k,
                "epsilon": epsilon,
                "delta": delta and round(delta, 12),
                "cost": round(cost / max(best, 1e-9) - 1, 5),
                "size": round(float(np.quantile(np.abs(np.asarray(release.sizes) - sizes), 0.9)) * k / n, 5),
                "place": far(found),
                "found": round(found.size / k, 3),
                "itself": far(moved(ordinary, again)),  # ordinary k-means with other starts
            }


def measure_made_up(number: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng([2027, number])
    rows, k = made_up(rng)
    epsilons = np.exp(rng.uniform(np.log(0.03), np.log(8), EPSILONS)).round(4).tolist()
    return list(measure(rows, k, epsilons, number))


def told(rows: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    """The fits that tell of an error: of places, those that found at least half of the clusters."""
    return [row for row in rows if what != "place" or row["found"] >= 0.5]


def seen(rows: list[dict[str, Any]]) -> Floats:
    return np.array([features(n=row["n"], d=row["d"], k=row["k"], epsilon=row["epsilon"]) for row in rows])


def fitted(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Quantile regressions of each logarithm, for up to 4 columns, and beyond with and without a delta.

    For the share of clusters that are found, a logistic line.
    """
    from sklearn.linear_model import LogisticRegression

    model: dict[str, Any] = {}
    for name, chosen in (
        ("tree", [row for row in rows if row["d"] <= 4]),
        ("subspace", [row for row in rows if row["d"] > 4 and row["delta"] is not None]),
        ("subspace, pure", [row for row in rows if row["d"] > 4 and row["delta"] is None]),
    ):
        ends = [(float(column.min()), float(column.max())) for column in seen(chosen).T]
        model[name] = {"measured": len(chosen), "ranges": [[round(each, 4) for each in pair] for pair in ends]}
        x, found = seen(chosen), np.array([row["found"] for row in chosen])
        twice, kinds = np.vstack([x, x]), np.repeat([1, 0], len(x))  # found and missed, weighted by their shares
        line = LogisticRegression(C=1e6, max_iter=1000).fit(twice, kinds, np.concatenate([found, 1 - found]))
        model[name]["found"] = coefficients(line.intercept_[0], *line.coef_[0])
        for what in MEASURES:
            those = told(chosen, what)
            x, y = seen(those), np.log([max(row[what], LEAST) for row in those])
            model[name][what] = {}
            for quantile in QUANTILES:
                model[name][what][quantile] = coefficients(*quantile_line(x, y, float(quantile)))
    return model


def quantile_line(x: Floats, y: Floats, quantile: float) -> Floats:
    """Intercept and slopes that leave this share of y below; more budget, before and after the bend, never hurts."""
    n, width = x.shape
    found = linprog(
        np.concatenate([np.zeros(1 + width), np.full(n, quantile), np.full(n, 1 - quantile)]),
        A_eq=sparse.hstack([np.ones((n, 1)), x, sparse.eye_array(n), -sparse.eye_array(n)]),
        b_eq=y,
        bounds=[(None, None), (None, 0), (None, 0), *[(None, None)] * (width - 2), *[(0, None)] * (2 * n)],
        method="highs",
    )
    line: Floats = found.x[: 1 + width]
    return line


def coefficients(*line: float) -> list[float]:
    return [round(float(each), 4) for each in line]


def check() -> None:
    """The forecast beside fits of public sets that it has never seen: how often each error was in its range."""
    table = []
    for which in CHECKED:
        rows = read(which, data_folder(None))
        rows = np.random.default_rng(0).permutation(rows)[:MOST_CHECKED]
        for cell in measure(rows, which.k, [0.1, 0.5, 1.0, 2.0], 0):
            expected = forecast(**{name: cell[name] for name in SHAPE})
            lines = {what: [round(each, 5) for each in getattr(expected, what)] for what in MEASURES}
            table.append({"set": which.name, **cell, "forecast": lines})
        print(which.name, flush=True)
    found = {"shares": shares(table), "shares_of_new_sets": shares(new(table))}
    write(RESULTS / "plan_check.json", found, "cells", table)
    print(json.dumps(found, indent=1))


def new(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in table if row["set"] in {each.name for each in NEW}]


def shares(table: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each error, how often it was between the outer lines, below the upper one, and near the middle one."""
    found: dict[str, Any] = {}
    for what in MEASURES:
        those = told(table, what)
        truth = np.array([max(row[what], LEAST) for row in those])
        low, middle, high = np.array([row["forecast"][what] for row in those]).T
        whole = 1 if what == "cost" else 0  # 30% of the whole cost; elsewhere, of the error
        found[what] = {
            "cells": len(those),
            "in_range": share((low <= truth) & (truth <= high)),
            "below_high": share(truth <= high),
            "within_30_percent": share(np.abs((whole + middle) / (whole + truth) - 1) <= 0.3),
            "within_a_factor_of_2": share(np.abs(np.log2(middle / truth)) <= 1),
        }
    return found


def share(kept: NDArray[np.bool_]) -> float:
    return round(float(kept.mean()), 3)


def write(path: Path, head: dict[str, Any], name: str, table: list[Any]) -> None:
    """One JSON document with a line for each entry of the table."""
    lines = ",\n".join(map(json.dumps, table))
    start = json.dumps({"covey": covey.__version__, **head})[:-1]
    write_whole(path, f'{start}, "{name}": [\n{lines}\n]}}\n'.encode())


def results() -> list[dict[str, Any]]:
    """What was measured, as it is kept in results/plan.json."""
    kept = json.loads((RESULTS / "plan.json").read_text())
    return [dict(zip(kept["columns"], row, strict=True)) for row in kept["rows"]]


def measure_all() -> None:
    store = RESULTS / "plan.jsonl"  # a set a line: interrupted, it goes on where it was
    done = {}
    if store.exists():
        done = {each["set"]: each["rows"] for each in map(json.loads, store.read_text().splitlines())}
    for number in range(SETS):
        if number not in done:
            done[number] = measure_made_up(number)
            with store.open("a") as file:
                file.write(json.dumps({"set": number, "rows": done[number]}) + "\n")
            print(f"{number + 1} of {SETS}", flush=True)
    table = [row for number in range(SETS) for row in done[number]]
    write(RESULTS / "plan.json", {"columns": list(table[0])}, "rows", [list(row.values()) for row in table])


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        if sys.argv[1:] != ["--fit"]:
            measure_all()
        write_whole(MODEL, (json.dumps(fitted(results()), indent=1) + "\n").encode())

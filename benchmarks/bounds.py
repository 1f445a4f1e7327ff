"""How good ranges are that are found privately, and what a fit loses by not knowing its bounds.

    python benchmarks/bounds.py --data /path/to/sets --out benchmarks/results/bounds.json

Columns and sets are those of the suite of utility, up to 16 columns and 26 clusters, at most 30,000 rows of each. First
every column by itself, at some products of the number of rows and the epsilon that is spent on its range: how the range
compares to that from the 1% to the 99% quantile, and how many rows it cuts off; and the same on columns of other sets,
at which nobody looked while the rule was made. Then `auto` at epsilon = 1 with all bounds private, with public ones,
and with the exact quantiles from 1% to 99% as if they were public: each against k-means without privacy, both measured
as the fit measures, with all rows as they are. Sets are public, so noise is seeded.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.cluster import KMeans

import covey
from covey.bench import sets
from covey.bench.coverage.suite import OTHERS
from covey.errors import DataError
from covey.files import write_whole
from covey.fit.fit import fit
from covey.post.distances import cost
from covey.post.random import public_rng

ROWS, EPSILON, MOST_COLUMNS, MOST_K, SHARE = 30_000, 1.0, 16, 26, 0.5
STRENGTHS = (300, 1_000, 3_000, 10_000)  # rows times the epsilon of a column
Floats = NDArray[np.float64]


def read(which: sets.DataSet, folder: Path) -> Floats:
    """Rows in the units of the data, within the public bounds."""
    lower, upper = (np.array([each[place] for each in which.bounds]) for place in (1, 2))
    rows = public_rng(0).permutation(sets.read(which, folder))[:ROWS]
    return (rows + 1) / 2 * (upper - lower) + lower


def range_of(column: Floats, strength: float, seed: int) -> tuple[float, float] | None:
    """The private range of a column, for so many rows times epsilon."""
    asked: dict[str, Any] = {"k": 1, "algorithm": "lloyd", "algorithm_params": {"rounds": 1}, "errors": "none"}
    epsilon = strength / len(column) / SHARE
    try:
        found = fit(
            pa.table({"x": column}), epsilon=epsilon, bounds={"x": f"private:{SHARE}"}, random_state=seed, **asked
        )
    except DataError:  # no range is supported
        return None
    return tuple(found.certificate.parameters["bounds"]["ranges"]["x"])


def ranges(columns: dict[str, Floats], strength: float, runs: int) -> dict[str, Any]:
    """All columns at one strength."""
    ratios, cut, none = [], [], 0
    for place, column in enumerate(columns.values()):
        low, high = np.quantile(column, [0.01, 0.99])
        for seed in range(runs):
            found = range_of(column, strength, 1000 * place + seed)
            if found is None:
                none += 1
                continue
            ratios.append((found[1] - found[0]) / (high - low))
            cut.append(float(np.mean((column < found[0]) | (column > found[1]))))
    good = sum(0.5 <= ratio <= 2 for ratio in ratios)
    return {
        "strength": strength,
        "tries": len(ratios) + none,
        "no_range": none,
        "within_factor_2": round(float(good / (len(ratios) + none)), 3),
        "median_ratio": round(float(np.median(ratios)), 3),
        "cut_at_most_2_percent": round(float(np.mean(np.array(cut) <= 0.0205)), 3),
    }


def columns_of(chosen: Iterable[sets.DataSet], tables: dict[str, Floats]) -> dict[str, Floats]:
    """Every column once, but for those of which 98% is one number."""
    columns: dict[str, Floats] = {}
    for which in chosen:
        for place, (name, *_) in enumerate(which.bounds):
            column = tables[which.name][:, place]
            if np.diff(np.quantile(column, [0.01, 0.99]))[0] > 0:
                columns.setdefault(f"{which.part or which.file}.{name}", column)
    return columns


def above_best(rows: Floats, which: sets.DataSet, bounds: dict[str, Any], best: KMeans, seed: int) -> float:
    """The cost of a private fit, as it measures, divided by that of k-means without privacy."""
    names = [each[0] for each in which.bounds]
    table = pa.table(dict(zip(names, rows.T, strict=True)))
    found = fit(table, k=which.k, epsilon=EPSILON, bounds=bounds, errors="none", random_state=seed)
    middle, unit = found.scale()
    scaled = (rows - middle) / unit
    private = cost(scaled, np.ones(len(rows)), (np.array(found.centres) - middle) / unit, "k-means")
    return float(private / -best.fit(scaled).score(scaled))


@click.command()
@click.option("--data", type=click.Path(path_type=Path), default=None)
@click.option("--runs", default=3, show_default=True, help="For every column.")
@click.option("--fits", "fits_each", default=24, show_default=True, help="For every set, with each kind of bounds.")
@click.option("--out", type=click.Path(path_type=Path))
def main(data: Path | None, runs: int, fits_each: int, out: Path | None) -> None:
    """Measure, and write a JSON document."""
    start, folder = time.process_time(), sets.data_folder(data)
    chosen = [each for each in sets.UTILITY if each.dimension <= MOST_COLUMNS and each.k <= MOST_K and not each.ball]
    tables = {each.name: read(each, folder) for each in (*chosen, *OTHERS)}
    columns, fresh = columns_of(chosen, tables), columns_of(OTHERS, tables)
    by_strength, by_strength_fresh = ([ranges(each, at, runs) for at in STRENGTHS] for each in (columns, fresh))
    for row in (*by_strength, *by_strength_fresh):
        click.echo(row)
    fits = []
    for which in chosen:
        public: dict[str, Any] = {name: (low, high) for name, low, high in which.bounds}
        best = KMeans(which.k, n_init=4, random_state=0)
        rows = tables[which.name]
        middle = dict(zip(public, np.quantile(rows, [0.01, 0.99], axis=0).T.tolist(), strict=True))
        row: dict[str, Any] = {"set": which.name, "rows": len(rows), "columns": which.dimension, "k": which.k}
        kinds = {"private": dict.fromkeys(public, "private"), "public": public, "quantiles": middle}
        for kind, bounds in kinds.items():
            try:
                found = [above_best(rows, which, bounds, best, seed) for seed in range(fits_each)]
                row[kind] = round(float(np.exp(np.mean(np.log(found)))), 4)
            except DataError:  # no range is supported
                row[kind] = None
        fits.append(row)
        click.echo(fits[-1])
    click.echo(f"{time.process_time() - start:.0f} s of CPU")
    if out is not None:
        about = {
            "covey": covey.__version__,
            "epsilon": EPSILON,
            "runs": runs,
            "fits_each": fits_each,
            "columns": len(columns),
            "fresh_columns": len(fresh),
        }
        found = {"ranges": by_strength, "fresh_ranges": by_strength_fresh, "fits": fits}
        write_whole(out, (json.dumps({**about, **found}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()

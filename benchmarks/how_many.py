"""How often `n_clusters="auto"` finds the number of clusters, on made-up blobs, and says that even rows have none.

    python benchmarks/how_many.py --out benchmarks/results/how_many.json

Every fit has rows of its own: 3 to 12 round clouds of unequal sizes and widths, at least 6 standard deviations between
their middles (of the widest), 20,000 rows, epsilon = 1, and 2 to 20 clusters to choose from. Rows are made up, so
noise is seeded. The rule and its constants were chosen on other rows.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import covey
from covey.files import write_whole
from covey.fit.fit import fit
from covey.post.random import public_rng

ROWS, EPSILON, RANGE, LEAST, MOST = 20_000, 1.0, (2, 20), 3, 12
COLUMNS = (2, 3, 4, 5, 6, 8, 10)
FIRST_SEED = 10_000  # smaller ones are for choosing a rule


def blobs(d: int, seed: int) -> tuple[NDArray[np.float64], int]:
    """Rows of k clouds in [-1, 1]^d, and k."""
    rng = public_rng(seed)
    k = int(rng.integers(LEAST, MOST + 1))
    widths, middles = rng.uniform(0.03, 0.06, k), np.empty((0, d))
    while len(middles) < k:
        one = rng.uniform(-0.8, 0.8, d)
        if (np.sqrt(np.square(middles - one).sum(axis=1)) >= 6 * widths.max()).all():
            middles = np.vstack([middles, one])
    shares = rng.uniform(1, 4, k)
    which = rng.choice(k, ROWS, p=shares / shares.sum())
    return np.clip(middles[which] + widths[which, None] * rng.normal(size=(ROWS, d)), -1, 1), k


def chosen(rows: NDArray[np.float64], seed: int) -> dict[str, Any]:
    """What a fit says of the number of clusters."""
    found = fit(rows, k="auto", k_range=RANGE, epsilon=EPSILON, bounds=(-1, 1), errors="none", random_state=seed)
    told = found.certificate.parameters["how_many"]
    return {"k": told["k"], "likeliest": len(found.centres)}


@click.command()
@click.option("--runs", default=20, show_default=True)
@click.option("--first", default=FIRST_SEED, show_default=True, help="The first seed.")
@click.option("--columns", multiple=True, type=int, default=COLUMNS, show_default=True)
@click.option("--out", type=click.Path(path_type=Path))
def main(runs: int, first: int, columns: tuple[int, ...], out: Path | None) -> None:
    """Measure, and write a JSON document."""
    table, start = [], time.process_time()
    for d in columns:
        found = []
        for seed in range(first + 1000 * d, first + 1000 * d + runs):
            rows, k = blobs(d, seed)
            found.append({"true": k, **chosen(rows, seed)})
        even = [
            chosen(public_rng(seed).uniform(-1, 1, (ROWS, d)), seed)["k"]
            for seed in range(first + 1000 * d + 500, first + 1000 * d + 500 + runs // 2)
        ]
        row = {
            "columns": d,
            "fits": runs,
            "exact": sum(each["k"] == each["true"] for each in found),
            "within_one": sum(each["k"] is not None and abs(each["k"] - each["true"]) <= 1 for each in found),
            "not_told": sum(each["k"] is None for each in found),
            "likeliest_within_one": sum(abs(each["likeliest"] - each["true"]) <= 1 for each in found),
            "even_fits": len(even),
            "even_not_told": sum(each is None for each in even),
        }
        table.append(row)
        click.echo(row)
        if out is None:
            click.echo([(each["true"], each["k"], each["likeliest"]) for each in found])
    click.echo(f"{time.process_time() - start:.0f} s of CPU")
    if out is not None:
        about = {
            "covey": covey.__version__,
            "rows": ROWS,
            "epsilon": EPSILON,
            "range": RANGE,
            "clusters": [LEAST, MOST],
        }
        write_whole(out, (json.dumps({**about, "table": table}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()

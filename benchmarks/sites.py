"""How much worse the places are that `sites` picks than those of the same search without noise.

    python benchmarks/sites.py --out benchmarks/results/sites.json

People are a mixture in a square, drawn anew for every run; of 200 random places k are picked at epsilon = 1. Rows are
made up, so noise is seeded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

import covey
from covey import Box, KMeans, KMedian
from covey.files import write_whole
from covey.post.distances import cost
from covey.post.random import public_rng

PLACES, EPSILON, NOISELESS = 200, 1.0, 1e4
CASES = ((1_000, 5), (20_000, 5), (20_000, 20))  # people and k
ESTIMATORS = {"k-median": KMedian, "k-means": KMeans}
BOX = Box(x=(-1.0, 1.0), y=(-1.0, 1.0))


def one_run(people: int, k: int, objective: Any, seed: int) -> float:
    """Cost of the private pick, divided by that of the same search with an epsilon so large that nothing is noise."""
    rng = public_rng(seed)
    middles, widths = rng.uniform(-0.8, 0.8, (2 * k, 2)), rng.uniform(0.02, 0.2, (2 * k, 1))
    which = rng.choice(2 * k, people, p=rng.dirichlet(np.ones(2 * k)))
    rows = np.clip(middles[which] + widths[which] * rng.normal(size=(people, 2)), -1, 1)
    places = rng.uniform(-1, 1, (PLACES, 2)).tolist()
    costs = []
    for epsilon in (EPSILON, NOISELESS):
        given = {"algorithm": "sites", "algorithm_params": {"sites": places, "swaps": k}, "random_state": seed}
        model = ESTIMATORS[objective](k, epsilon=epsilon, bounds=BOX, **given).fit(rows)
        costs.append(cost(rows, np.ones(people), model.cluster_centers_, objective))
    return costs[0] / costs[1]


@click.command()
@click.option("--runs", default=10, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(runs: int, out: Path) -> None:
    """Measure, and write a JSON document."""
    table = []
    for people, k in CASES:
        row: dict[str, Any] = {"people": people, "k": k}
        for objective in ESTIMATORS:
            ratios = [one_run(people, k, objective, seed) for seed in range(runs)]
            mean, spread = float(np.mean(ratios)), float(np.std(ratios, ddof=1) / runs**0.5)
            row |= {objective: round(mean, 4), f"{objective}_se": round(spread, 4)}
        table.append(row)
        click.echo(row)
    about = {"covey": covey.__version__, "places": PLACES, "epsilon": EPSILON, "runs": runs}
    write_whole(out, (json.dumps({**about, "table": table}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()

"""What a zone costs the centres: pickups in New York with a strict zone over midtown, against the same fits without it.

    python benchmarks/zones.py DATA      prints a table and writes benchmarks/results/zones/

DATA holds nyc_taxi.parquet. A cost is that of all rows, in columns scaled to [-1, 1], of centres that were released at
epsilon 1; a ratio is the mean cost of the fits with a zone over that of the fits without. "kept rows" is what fits did
before they counted by zone: rows are thinned first, and nobody counts them up.

Goal: at most 1.05 with a zone of 0.1, for `grid`, `auto` and the coresets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covey import Box, KMeans, PrivateCoreset

GOAL, SEEDS, K, EPSILON = 1.05, 10, 5, 1.0
LOWER, UPPER = np.array([-74.1, 40.7]), np.array([-73.9, 40.9])
BOUNDS = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
MIDTOWN = Box(lon=(-74.0, -73.97), lat=(40.745, 40.77))
ZONES = (0.1, 0.5)
RESULTS = Path(__file__).parent / "results" / "zones"
Fit = Callable[[pd.DataFrame, Any, int], Any]


def centres_of(algorithm: str) -> Fit:
    def fit(rows: pd.DataFrame, zones: Any, seed: int) -> Any:
        asked = {"algorithm": algorithm, "zones": zones, "random_state": seed, "errors": "none"}
        return KMeans(K, epsilon=EPSILON, bounds=BOUNDS, **asked).fit(rows).cluster_centers_

    return fit


def coreset_of(method: str) -> Fit:
    def fit(rows: pd.DataFrame, zones: Any, seed: int) -> Any:
        made = PrivateCoreset(K, epsilon=EPSILON, bounds=BOUNDS, method=method, zones=zones, random_state=seed)
        return made.fit(rows).coreset_.kmeans(K).centres

    return fit


SUBJECTS: dict[str, Fit] = {
    **{name: centres_of(name) for name in ("auto", "grid", "hybrid", "lloyd")},
    **{f"coreset, {name}": coreset_of(method) for name, method in (("tree", "auto"), ("net", "net"), ("ball", "ball"))},
}


def cost(rows: pd.DataFrame, centres: Any) -> float:
    scaled, at = ((np.asarray(each, dtype=np.float64) - LOWER) / (UPPER - LOWER) * 2 - 1 for each in (rows, centres))
    return float(np.square(np.clip(scaled, -1, 1)[:, None] - at).sum(axis=2).min(axis=1).mean())


def thinned(rows: pd.DataFrame, zone: float, seed: int) -> pd.DataFrame:
    (west, east), (south, north) = MIDTOWN.ranges
    inside = rows["lon"].between(west, east) & rows["lat"].between(south, north)
    rate = np.expm1(zone) / np.expm1(EPSILON)
    return rows[~inside | (np.random.default_rng(seed).random(len(rows)) < rate)]


def measure(rows: pd.DataFrame, fit: Fit) -> dict[str, Any]:
    plain = [cost(rows, fit(rows, None, seed)) for seed in range(SEEDS)]
    found: dict[str, Any] = {"cost": float(np.mean(plain))}
    for zone in ZONES:
        kept = [cost(rows, fit(thinned(rows, zone, seed), None, seed)) for seed in range(SEEDS)]
        counted = [cost(rows, fit(rows, [(MIDTOWN, zone)], seed)) for seed in range(SEEDS)]
        for name, costs in (("kept rows", kept), ("counted up", counted)):
            each = np.array(costs) / found["cost"]
            found[f"{name}, {zone:g}"] = {"mean": float(each.mean()), "worst": float(each.max())}
    return found


def page(found: dict[str, dict[str, Any]], about: dict[str, Any]) -> str:
    columns = [f"{name}, {zone:g}" for zone in ZONES for name in ("kept rows", "counted up")]
    lines = [
        "# A strict zone over midtown",
        "",
        f"{about['rows']:,} pickups in New York (`nyc_taxi`), of which {about['in_zone']:.0%} are in the zone;",
        f"k = {K}, epsilon = {EPSILON:g}, {SEEDS} seeds. Cost of all rows for the released centres, as a multiple of",
        "the mean cost without a zone: the mean, and the worst in brackets. A column's head has the zone's epsilon.",
        "`python benchmarks/zones.py DATA` writes this page.",
        "",
        f"| | cost without | {' | '.join(columns)} |",
        f"|---|---|{'---|' * len(columns)}",
    ]
    for name, row in found.items():
        cells = [f"{row[column]['mean']:.3f} ({row[column]['worst']:.3f})" for column in columns]
        lines.append(f"| {name} | {row['cost']:.5f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    table = pd.read_parquet(Path(sys.argv[1]) / "nyc_taxi.parquet", columns=["pickup_lon", "pickup_lat"])
    rows = table.set_axis(["lon", "lat"], axis=1)
    (west, east), (south, north) = MIDTOWN.ranges
    inside = rows["lon"].between(west, east) & rows["lat"].between(south, north)
    about = {"rows": len(rows), "in_zone": float(inside.mean()), "seeds": SEEDS, "k": K, "epsilon": EPSILON}
    found = {}
    for name, fit in SUBJECTS.items():
        found[name] = measure(rows, fit)
        print(name, json.dumps(found[name]), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "zones.json").write_text(json.dumps({**about, "goal": GOAL, "found": found}, indent=2) + "\n")
    (RESULTS / "zones.md").write_text(page(found, about))
    print(page(found, about))


if __name__ == "__main__":
    main()

"""What a zone costs the centres: pickups in New York with a strict zone over midtown, against the same fits without it;
in six columns, people of a census with a strict zone up to an age of 30; and users of Gowalla, with all the places that
they were at, of whom those who were ever in Austin have a strict zone.

    python benchmarks/zones.py DATA            prints a table and writes benchmarks/results/zones/
    python benchmarks/zones.py DATA people     only the users of Gowalla; all else stays as it was measured

DATA holds nyc_taxi.parquet, adult_num.parquet and gowalla_visits.parquet. A cost is that of all rows, in columns scaled
to [-1, 1], of centres that were released at epsilon 1; a ratio is the mean cost of the fits with a zone over that of
the fits without. "kept rows" is what fits did before they counted by zone: rows are thinned first, or people with all
their rows, and nobody counts them up.

Goal: at most 1.05 with a zone of 0.1, for `grid`, `auto` and the coresets; with people for `grid` and `auto`.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covey import Box, KMeans, PrivateCoreset
from covey.errors import PrivacyWarning

GOAL, SEEDS, K, EPSILON = 1.05, 10, 5, 1.0
NEW_YORK = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
MIDTOWN = Box(lon=(-74.0, -73.97), lat=(40.745, 40.77))
CENSUS = Box(
    age=(17, 90),
    fnlwgt=(0, 1_500_000),
    education_num=(1, 16),
    capital_gain=(0, 99_999),
    capital_loss=(0, 5_000),
    hours_per_week=(1, 99),
)
YOUNG = Box(age=(17, 30))
AMERICA = Box(lon=(-130, -65), lat=(24, 50))
AUSTIN = Box(lon=(-98.2, -97.4), lat=(30.0, 30.6))
ROWS_PER_PERSON = 10
ZONES = (0.1, 0.5)
RESULTS = Path(__file__).parent / "results" / "zones"
Fit = Callable[[pd.DataFrame, Any, int], Any]


@dataclass(frozen=True)
class Case:
    """Rows, their bounds, the box that is a zone, and the column that says whose a row is."""

    rows: pd.DataFrame
    bounds: Box
    zone: Box
    person: str | None = None

    def in_zone(self) -> pd.Series:
        """Of each row; with people, of each whether its person has a row there."""
        sides = zip(self.zone.columns or (), self.zone.ranges, strict=True)
        found = pd.concat([self.rows[name].between(*side) for name, side in sides], axis=1).all(axis=1)
        return found if self.person is None else found.groupby(self.rows[self.person]).transform("any")

    def cost(self, centres: Any) -> float:
        """The mean square of all rows, each column from -1 to 1."""
        low, high = np.array(self.bounds.ranges).T
        columns = list(self.bounds.columns or ())
        pair = (self.rows[columns], centres)
        scaled, at = ((np.asarray(x, dtype=np.float64) - low) / (high - low) * 2 - 1 for x in pair)
        return float(np.square(np.clip(scaled, -1, 1)[:, None] - at).sum(axis=2).min(axis=1).mean())

    def thinned(self, zone: float, seed: int) -> pd.DataFrame:
        rate, rng = np.expm1(zone) / np.expm1(EPSILON), np.random.default_rng(seed)
        if self.person is None:
            return self.rows[~self.in_zone() | (rng.random(len(self.rows)) < rate)]
        number, people = pd.factorize(self.rows[self.person])
        return self.rows[~self.in_zone() | (rng.random(len(people)) < rate)[number]]


def centres_of(algorithm: str, bounds: Box = NEW_YORK, **more: Any) -> Fit:
    def fit(rows: pd.DataFrame, zones: Any, seed: int) -> Any:
        asked = {"algorithm": algorithm, "zones": zones, "random_state": seed, "errors": "none", **more}
        return KMeans(K, epsilon=EPSILON, bounds=bounds, **asked).fit(rows).cluster_centers_

    return fit


def coreset_of(method: str, bounds: Box = NEW_YORK, **more: Any) -> Fit:
    def fit(rows: pd.DataFrame, zones: Any, seed: int) -> Any:
        asked = {"method": method, "zones": zones, "random_state": seed, **more}
        made = PrivateCoreset(K, epsilon=EPSILON, bounds=bounds, **asked)
        return made.fit(rows).coreset_.kmeans(K).centres

    return fit


SUBJECTS: dict[str, Fit] = {
    **{name: centres_of(name) for name in ("auto", "grid", "hybrid", "lloyd")},
    **{f"coreset, {name}": coreset_of(method) for name, method in (("tree", "auto"), ("net", "net"), ("ball", "ball"))},
}
OF_PEOPLE: dict[str, Any] = {"bounds": AMERICA, "person": "user", "rows_per_person": ROWS_PER_PERSON}
PEOPLE: dict[str, Fit] = {
    **{f"{name}, people": centres_of(name, **OF_PEOPLE) for name in ("auto", "grid", "hybrid", "lloyd")},
    "coreset, tree, people": coreset_of("auto", **OF_PEOPLE),
}


def measure(case: Case, fit: Fit) -> dict[str, Any]:
    plain = [case.cost(fit(case.rows, None, seed)) for seed in range(SEEDS)]
    found: dict[str, Any] = {"cost": float(np.mean(plain))}
    for zone in ZONES:
        kept = [case.cost(fit(case.thinned(zone, seed), None, seed)) for seed in range(SEEDS)]
        counted = [case.cost(fit(case.rows, [(case.zone, zone)], seed)) for seed in range(SEEDS)]
        for name, costs in (("kept rows", kept), ("counted up", counted)):
            each = np.array(costs) / found["cost"]
            found[f"{name}, {zone:g}"] = {"mean": float(each.mean()), "worst": float(each.max())}
    return found


def page(found: dict[str, dict[str, Any]], about: dict[str, Any]) -> str:
    columns = [f"{name}, {zone:g}" for zone in ZONES for name in ("kept rows", "counted up")]
    lines = [
        "# A strict zone over midtown",
        "",
        f"{about['rows']:,} pickups in New York (`nyc_taxi`), of which {about['in_zone']:.0%} are in the zone; and",
        f"in six columns {about['people']:,} people of a census (`adult_num`), {about['young']:.0%} in a zone up to an",
        f"age of 30; and {about['users']:,} users of Gowalla with {about['visits']:,} rows (`gowalla_visits`), at most",
        f"{ROWS_PER_PERSON} of a user's; {about['austin']:.0%} are of users with a row in the zone, Austin;",
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
    warnings.simplefilter("ignore", PrivacyWarning)
    visits = pd.read_parquet(Path(sys.argv[1]) / "gowalla_visits.parquet", columns=["user", "lon", "lat"])
    inside = [visits[name].between(*side) for name, side in zip(("lon", "lat"), AMERICA.ranges, strict=True)]
    users = Case(visits[inside[0] & inside[1]].reset_index(drop=True), AMERICA, AUSTIN, "user")
    table = pd.read_parquet(Path(sys.argv[1]) / "nyc_taxi.parquet", columns=["pickup_lon", "pickup_lat"])
    pickups = Case(table.set_axis(["lon", "lat"], axis=1), NEW_YORK, MIDTOWN)
    people = pd.read_parquet(Path(sys.argv[1]) / "adult_num.parquet", columns=list(CENSUS.columns or ()))
    census = Case(people, CENSUS, YOUNG)
    about = {
        "rows": len(pickups.rows),
        "in_zone": float(pickups.in_zone().mean()),
        "people": len(people),
        "young": float(census.in_zone().mean()),
        "users": int(users.rows["user"].nunique()),
        "visits": len(users.rows),
        "austin": float(users.in_zone().mean()),
        "seeds": SEEDS,
        "k": K,
        "epsilon": EPSILON,
    }
    found, works = {}, [(name, users, fit) for name, fit in PEOPLE.items()]
    if sys.argv[2:] == ["people"]:
        found = json.loads((RESULTS / "zones.json").read_text())["found"]
    else:
        rows = [(name, pickups, fit) for name, fit in SUBJECTS.items()]
        works = [*rows, ("auto, six columns", census, centres_of("auto", CENSUS)), *works]
    for name, case, fit in works:
        found[name] = measure(case, fit)
        print(name, json.dumps(found[name]), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "zones.json").write_text(json.dumps({**about, "goal": GOAL, "found": found}, indent=2) + "\n")
    (RESULTS / "zones.md").write_text(page(found, about))
    print(page(found, about))


if __name__ == "__main__":
    main()

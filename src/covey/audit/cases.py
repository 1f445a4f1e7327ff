"""Whole fits under attack: an algorithm, a promise, and two neighbouring data sets that are hard to tell apart.

The attacker calls `covey.fit.fit.fit` like everybody else and sees the release. Every algorithm of the registry is
found by itself, under each relation that it supports, and with a delta where it can use one. What stands in front of an
algorithm (a sample, capped persons, zones) and the chain of levels are attacked through fast ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.registry import ALGORITHMS, find
from covey.audit.bounds import Claim
from covey.audit.features import Line, of_points, of_release
from covey.fit.fit import fit
from covey.post.random import public_rng
from covey.public import Box

Floats = NDArray[np.float64]
DELTA = 1e-2  # large, so that what it excuses is small beside what these trials can see
MANY = 12  # rows at one corner
CAP = 2  # rows per person
RATE = 0.25
ZONE_SHARE = 0.5  # of epsilon, in the zone
QUICK: dict[str, Any] = {  # where an algorithm has such a parameter: quick runs, and all that can be published
    "candidates": 20,
    "parents": 3,
    "starts": 2,
    "keep_synopsis": True,
}
FRONTS = {
    "sample": "one or none",
    "persons": "one or none",
    "persons, a private cap": "one or none",
    "zone": "corner to corner",
    "beside the zone": "corner to corner",
}
CHAINS = ("all levels", "the most private level")
KMEDIAN_PAIR = "corner to corner"  # there, algorithms that offer k-median are asked for it
PAIRS = {"one or none": (1, 1), "corner to corner": (2, 2), "six columns": (6, 2)}  # columns, clusters


@dataclass(frozen=True)
class Case:
    """One promise: who makes it, under which relation, for which pair, at which epsilon. All of it public."""

    algorithm: str
    neighbours: str
    pair: str
    epsilon: float
    delta: float = 0.0
    front: str = ""
    objective: str = "k-means"

    @property
    def claim(self) -> Claim:
        strict = self.front in ("zone", "the most private level")
        return Claim(self.epsilon * (ZONE_SHARE if strict else 1.0), self.delta)

    @property
    def name(self) -> str:
        objective = "" if self.objective == "k-means" else self.objective
        parts = [self.algorithm, objective, self.front, self.neighbours, self.pair, f"ε = {self.epsilon:g}"]
        return ", ".join(each for each in (*parts, f"δ = {self.delta:g}" if self.delta else "") if each)


def cases(
    names: Iterable[str] | None = None, *, epsilons: Iterable[float], pairs: Iterable[str], fronts: bool = True
) -> list[Case]:
    """Every algorithm (or these) by itself, then everything that stands in front of one."""
    levels, places = list(epsilons), list(pairs)
    found = [
        Case(name, str(relation), pair, epsilon, delta, objective=_objective(name, pair))
        for name in (ALGORITHMS if names is None else names)
        for relation in find(name).neighbours
        for pair in places
        for epsilon in levels
        for delta in {"pure": (0.0,), "approximate": (DELTA,)}.get(find(name).guarantee, (0.0, DELTA))
        if pair != "six columns" or delta or find(name).guarantee == "pure"
    ]
    return found + (in_front(levels) if names is None and fronts else [])


def _objective(name: str, pair: str) -> str:
    offered = find(name).objectives
    return "k-median" if pair == KMEDIAN_PAIR and "k-median" in offered else offered[0]


def in_front(epsilons: Iterable[float]) -> list[Case]:
    """What is shared by all algorithms, in front of two quick ones; and the levels."""
    found = []
    for epsilon in epsilons:
        found += [
            Case(name, "add-remove", pair, epsilon, front=front)
            for front, pair in FRONTS.items()
            for name in ("grid", "lloyd")
        ]
        found += [Case("grid", "replace-one", "corner to corner", epsilon, front="sample")]
        found += [Case("levels", "add-remove", "one or none", epsilon, front=front) for front in CHAINS]
    return found


class Neighbouring:
    """A case ready to run: trial(which, seed) fits the first (0) or the second (1) neighbour and reads the release.

    The first has the person: at the corner of ones, where under replace-one the second has them at the other corner.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self._columns, self._k = PAIRS[case.pair]
        self._place = [1.0] * self._columns
        self._folder = TemporaryDirectory() if case.front.startswith("persons") else None
        self._data = self._files(Path(self._folder.name)) if self._folder else self._arrays()
        self._settings = self._keywords()

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def trial(self, which: int, seed: int | None) -> Line:
        """One release, as the attacker sees it. Without a seed the noise is that of any private release."""
        if self.case.algorithm == "levels":
            return self._levels(which, seed)
        return of_release(fit(self._data[which], random_state=seed, **self._settings), self._place)

    def _arrays(self) -> tuple[Floats, Floats]:
        alone = self.case.pair == "one or none"
        rows = np.full((0 if alone else MANY, self._columns), -1.0)
        with_person = np.concatenate([rows, [self._place]])
        if self.case.neighbours == "replace-one":
            return with_person, np.full_like(with_person, -1.0)
        return with_person, rows

    def _files(self, folder: Path) -> tuple[str, str]:
        """Files with an id for every row; the person has one row more than the cap."""
        others = [f"p{i},-1" for i in range(MANY)]
        person = ["q,1"] * (CAP + 1)
        for name, lines in (("first", [*person, *others]), ("second", others)):
            (folder / f"{name}.csv").write_text("\n".join(["id,x", *lines]) + "\n")
        return str(folder / "first.csv"), str(folder / "second.csv")

    def _keywords(self) -> dict[str, Any]:
        case = self.case
        if case.algorithm == "levels":
            return {}
        row, edge = find(case.algorithm), np.ones(self._columns)
        own = {name: value for name, value in QUICK.items() if name in row.parameters} | dict(row.few_rows)
        own |= row.needs(-edge, edge, self._k, public_rng(0)) | (dict(row.with_delta) if case.delta else {})
        if "sites" in own:  # from corner to corner, where they tell the most
            own["sites"] = (np.linspace(-0.9, 0.9, self._k + 2)[:, None] * edge).tolist()
        common = {
            "k": self._k,
            "epsilon": case.epsilon,
            "delta": case.delta or None,
            "bounds": (-1.0, 1.0),
            "algorithm": case.algorithm,
            "algorithm_params": own or None,
            "neighbours": case.neighbours,
            "objective": case.objective,
        }
        return common | self._front()

    def _front(self) -> dict[str, Any]:
        front = self.case.front
        if front == "sample":
            return {"sample": RATE}
        if front.startswith("persons"):
            cap = CAP if front == "persons" else "auto"
            return {"person": "id", "rows_per_person": cap, "bounds": Box(x=(-1.0, 1.0))}
        if front in ("zone", "beside the zone"):
            corner = 1.0 if front == "zone" else -1.0
            zone = _square(corner, epsilon=self.case.epsilon * ZONE_SHARE)
            return {"zones": zone, "bounds": Box(lon=(-1.0, 1.0), lat=(-1.0, 1.0))}
        return {}

    def _levels(self, which: int, seed: int | None) -> Line:
        from covey.fit.slider import Level, fit_levels

        epsilon = self.case.epsilon
        levels = (Level("more private", epsilon * ZONE_SHARE), Level("less private", epsilon))
        shown = fit_levels(self._data[which], bounds=(-1.0, 1.0), levels=levels, per_axis=2, random_state=seed)
        line: Line = {}
        for i in range(1 if self.case.front == "the most private level" else len(levels)):
            coreset = shown.coreset(i)
            line |= of_points(coreset.points, coreset.weights, self._place, name=f"level {i}")
        return line


def _square(corner: float, *, epsilon: float) -> dict[str, Any]:
    """A zone of its own epsilon: the quarter of the domain around a corner, as GeoJSON."""
    ring = [[0.0, 0.0], [corner, 0.0], [corner, corner], [0.0, corner], [0.0, 0.0]]
    zone = {
        "type": "Feature",
        "properties": {"epsilon": epsilon},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }
    return {"type": "FeatureCollection", "features": [zone]}

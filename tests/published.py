"""Everything that Covey publishes, made for real in many ways, with noise that can be repeated."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from conftest import settings_of
from covey import Ball, Box, Coreset, Ledger, Release
from covey.algorithms.coreset_methods import METHODS
from covey.algorithms.registry import ALGORITHMS
from covey.budget.accounting.accountant import Cost
from covey.cli.main import main
from covey.fit.fit import fit
from covey.fit.slider import CHOICES, LevelSet, fit_levels
from covey.published.coreset.draw import coreset_plot
from covey.published.coreset.files import to_json as coreset_json
from covey.published.coreset.files import to_parquet
from covey.published.levels.files import to_json as levels_json
from covey.published.levels.words import LATER
from elsewhere import offered
from leaving import Fields, joined, of_json, of_parquet, of_png, of_report, of_steps, of_text
from randomness import same_randomness
from studio_client import asking

BOX = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
RING = [[-74.09, 40.71], [-74.0, 40.71], [-74.0, 40.8], [-74.09, 40.8], [-74.09, 40.71]]
ZONES = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"epsilon": 0.05, "name": "clinic"},
            "geometry": {"type": "Polygon", "coordinates": [RING]},
        }
    ],
}


@dataclass(frozen=True)
class Town:
    """Rows that have nothing in common with those of another number: other places, and other ids."""

    number: int
    rows: int

    def points(self, d: int = 2) -> np.ndarray:
        rng = np.random.default_rng((self.number, 77))
        middles = rng.uniform(-0.8, 0.8, (3, d))
        return np.clip(middles[rng.integers(0, 3, self.rows)] + rng.normal(0, 0.08, (self.rows, d)), -1, 1)

    def map(self) -> pd.DataFrame:
        return pd.DataFrame(self.points() * 0.1 + [-74.0, 40.8], columns=["lon", "lat"])

    def people(self) -> pd.DataFrame:
        rng = np.random.default_rng((self.number, 78))
        return self.map().assign(who=rng.integers(0, self.rows // (2 + 5 * self.number), self.rows))


@dataclass(frozen=True)
class Case:
    """One way to ask. tags : what of the request makes some public fields noisy. rows : of both towns, if public."""

    make: Callable[[Town, Path], Fields]
    tags: frozenset[str] = frozenset()
    rows: tuple[int, int] = (700, 500)


def of_release(release: Release) -> Fields:
    return of_json("Release", json.loads(release.to_json()))


def of_coreset(coreset: Coreset) -> Fields:
    return of_json("Coreset", json.loads(coreset_json(coreset)))


def watched(data: Any, **asked: Any) -> Fields:
    """A release, and what its fit tells of its progress."""
    steps: list[tuple[int, int, str]] = []
    release = fit(data, **{"k": 3, "epsilon": 1.0, **asked}, progress=lambda *step: steps.append(step))
    maps = of_json("GeoJSON of a release", release.to_geojson()) if "lon" in release.columns else {}
    return joined(of_release(release), of_steps(steps), maps)


def one_fit(town: Town, folder: Path, **asked: Any) -> Fields:
    """Points in the square, whatever else is asked."""
    return watched(town.points(), bounds=(-1, 1), **asked)


def on_map(town: Town, folder: Path, **asked: Any) -> Fields:
    """A map, charged to a ledger."""
    book = Ledger.create(folder / "x.ledger", dataset="trips", epsilon=9, delta="1e-3", person=asked.get("person"))
    return watched(town.people(), bounds=BOX, ledger=book, dataset="trips", **asked)


def wide(town: Town, folder: Path, **asked: Any) -> Fields:
    """Six named columns in a ball or a box."""
    return watched(pd.DataFrame(town.points(6), columns=list("abcdef")), **{"bounds": Ball(1.0), **asked})


def privately(town: Town, folder: Path) -> Fields:
    """Ranges that are found, with the charge and the document of their own."""
    book = Ledger.create(folder / "x.ledger", dataset="trips", epsilon=99)
    rows = pd.DataFrame(town.points(), columns=["a", "b"])
    asked = {"bounds": {"a": (-1, 1), "b": "private:0.5"}, "epsilon": 9.0, "ledger": book, "dataset": "trips"}
    made = watched(rows, **asked)
    first = next(entry.sequence for entry in book.entries() if entry.kind == "charge")
    return joined(made, of_json("Private bounds", json.loads(book.document(first))))


def coreset(town: Town, method: str, **asked: Any) -> Coreset:
    own = {"keep_synopsis": True} if method in ("auto", "grid") else settings_of(method)["algorithm_params"]
    given = {"k": 2, "epsilon": 1.0, "bounds": BOX, "algorithm": method, "algorithm_params": own, **asked}
    return Coreset.of(fit(town.map(), **given))


SITES = [[-74.1 + 0.02 * i, 40.7 + 0.02 * j] for i in range(11) for j in range(11)]  # one may be as good as the next


def one_coreset(town: Town, folder: Path, *, method: str) -> Fields:
    found = coreset(town, method)
    return joined(
        of_coreset(found),
        of_parquet(to_parquet(found)),
        of_json("GeoJSON of a coreset", found.to_geojson()),
        of_png(coreset_plot(found)),
        of_coreset(found.reduce(5)),
        of_release(found.kmedian(2)),
        of_release(found.kmeans(3, fixed=[[-74.0, 40.8]], candidates=SITES, forbidden=ZONES)),
        of_release(found.kmedian(2, allowed=ZONES)),
    )


def merged(town: Town, folder: Path) -> Fields:
    """Sums and disjoint unions, and one within the other."""
    book = Ledger.create(folder / "x.ledger", dataset="north", epsilon=9)
    book.add("south", epsilon=9)
    parts = [coreset(town, "auto", epsilon=0.5, ledger=book, dataset=name) for name in ("north", "south", "north")]
    apart = parts[0].merge(parts[1], disjoint=True)
    claimed = parts[0].merge(parts[2], disjoint=True)
    nested = (apart + parts[2]).reduce(20)
    return joined(
        *map(of_coreset, (apart, claimed, nested)), of_parquet(to_parquet(nested)), of_release(nested.kmeans(2))
    )


def levels(town: Town, folder: Path, *, zones: Any = None, person: str | None = None) -> Fields:
    book = Ledger.create(folder / "x.ledger", dataset="trips", epsilon=9, person=person)
    told: list[tuple[int, int, str]] = []
    found: LevelSet = fit_levels(
        town.people(),
        bounds=BOX,
        person=person,
        rows_per_person=2 if person else 1,
        zones=zones,
        ledger=book,
        dataset="trips",
        progress=lambda *step: told.append(step),
    )
    together = Cost(Fraction(3))  # told where others were published before
    ways: list[dict[str, Any]] = [{"chosen": how, "together": together if how == LATER else None} for how in CHOICES]
    chosen = [
        part
        for way in ways
        for part in (of_release(found.release(2, 3, edges=False, **way)), of_coreset(found.coreset(2, **way)))
    ]
    return joined(of_json("Levels", json.loads(levels_json(found))), of_steps(told), *chosen)


def places(page: Any) -> Any:
    """How far a level's centres may be off, once that was computed."""
    while (found := page.get("api/places/3").json())["state"] == "running":
        time.sleep(0.02)
    return found


def studio(town: Town, folder: Path, *, zones: Any = None, seed: int | None = None) -> Fields:
    """A look, and what is published of it: with and without the owner's view."""
    book = Ledger.create(folder / "x.ledger", dataset="trips", epsilon=9) if seed is None else None
    given = {"data": town.map(), "bounds": BOX, "ledger": book, "dataset": "trips", "zones": zones, "seed": seed}
    page = asking(folder, allow_seeded=True, **given)
    page.look()
    found = [of_json("api/levels", page.get(f"api/levels/{each}").json()) for each in ("3", "4?k=1")]
    found.append(of_json("api/places", places(page)))
    found.append(of_json("api/how-many", page.get("api/how-many/3").json()))
    if zones is None:
        asked = {"level": 3, "k": 3, "columns": ["lon=-74.1:-73.9:4"], "epsilon": 1.0, "confirm": True}
        found.append(of_json("api/profile", page.post("api/profile", asked).json()))
    for seen in (False, True):
        page.post("api/owner", {"on": seen})
        made = page.post(
            "api/publish", {"level": 3, "k": 8 if seen else 3, "objective": "k-means", "name": "for all"}
        ).json()
        place = folder / "published" / made["id"]
        found += [
            of_release(Release.load(place / "town-detailed.json")),
            of_json("release.geojson", json.loads((place / "town-detailed.geojson").read_text())),
            of_json("publication.json", json.loads((place / "publication.json").read_text())),
            of_report((place / "town-detailed.html").read_bytes()),
        ]
        files = sorted(each.name for each in place.iterdir())
        assert files == ["publication.json", *(f"town-detailed.{each}" for each in ("geojson", "html", "json"))]
    return joined(*found)


def printed(*arguments: str) -> str:
    """What a command prints on stdout."""
    raw = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(raw, write_through=True)) as stream:
        main(arguments)
        stream.flush()
        return raw.getvalue().decode()


def commands(town: Town, folder: Path) -> Fields:
    with contextlib.chdir(folder):
        town.map().to_csv("trips.csv", index=False)
        Path("sites.csv").write_text("set,lon,lat\none,-74.0,40.8\ntwo,-74.02,40.78\ntwo,-73.98,40.82\n")
        Path("park.json").write_text(json.dumps({"type": "Polygon", "coordinates": [RING]}))
        Ledger.create("x.ledger", dataset="trips", epsilon=9)
        usual = ("trips.csv", "--epsilon", "1", "--bounds", "lon=-74.1:-73.9,lat=40.7:40.9")
        charged = ("--ledger", "x.ledger", "--dataset", "trips")
        pd.DataFrame(town.points(), columns=["a", "b"]).to_csv("plain.csv", index=False)
        Path("plain-sites.csv").write_text("a,b\n0.5,0.5\n-0.5,-0.5\n")
        plain = ("plain.csv", "--epsilon", "1", "--bounds", "a=-1:1,b=-1:1")
        keyed = (*charged, "--key", "monday")
        told = [
            printed("fit", *usual, "-k", "3", *keyed, "--out", "r.json", "--geojson", "r.geojson"),
            printed("fit", *usual, "-k", "3", *keyed),
            printed("fit", *usual, "-k", "8", "--errors", "full"),
            printed("fit", *usual, "-k", "2", "--algorithm", "grid", "--errors", "none", "--epsilon", "0.001"),
            printed("fit", *usual, "-k", "auto", "--k-range", "2:2"),
            printed("coreset", *usual, *charged, "--out", "c.json"),
            printed("query", "c.json", "-k", "2", "--centers", "sites.csv", "--forbidden", "park.json"),
            printed("query", "c.json", "--centers", "sites.csv", "--scaled"),
            printed("coreset", *plain, "--out", "plain.json"),
            printed("query", "plain.json", "--centers", "plain-sites.csv"),
            printed("coreset", "plain.csv", "--epsilon", "0.02", "--bounds", "a=-1:1,b=-1:1", "--out", "few.json"),
            printed("query", "few.json", "--centers", "plain-sites.csv"),
            printed("query", "few.json", "--centers", "plain-sites.csv", "--scaled"),
            printed("fit", *usual, "-k", "2", "--plot", "p.png", "--report", "p.html", "--quiet"),
            printed("show", "r.json", "--scaled"),
            printed("show", "c.json"),
            printed("export", "r.json", "--to", "geojson", "--out", "e.geojson"),
            printed("export", "r.json", "--to", "html", "--out", "e.html"),
            printed("fit", "trips.csv", "--epsilon", "1", "--bounds", "lon=-80:-79,lat=40.7:40.9", "-k", "2"),
        ]
        answers = printed("query", "c.json", "-k", "2", "--centers", "sites.csv", "--speed", "30", "--json")
        documents = [printed("fit", *usual, "-k", "3", "--json"), Path("r.json").read_text()]
        return joined(
            *(of_text("Printed", each) for each in told),
            of_json("Answers as JSON", json.loads(answers)),
            *(of_json("Release", json.loads(each)) for each in documents),
            of_coreset(Coreset.load("c.json")),
            of_png(Path("p.png").read_bytes()),
            *(of_report(Path(each).read_bytes()) for each in ("p.html", "e.html")),
            of_json("release.geojson", json.loads(Path("e.geojson").read_text())),
        )


def profiled(town: Town, folder: Path, **asked: Any) -> Fields:
    """What is in the clusters of a release: much that stands out, and with next to no budget nothing."""
    rows = town.people().assign(half=lambda rows: np.where(rows.lon > -74.0, "east", "west"))
    book = Ledger.create(folder / "x.ledger", dataset="trips", epsilon=9, person=asked.get("person"))
    charged = {"ledger": book, "dataset": "trips", **asked}
    release = fit(rows, k=3, epsilon=1.0, bounds=BOX, choice="asked for on Monday", missing="drop", **charged)
    steps: list[tuple[int, int, str]] = []
    columns = ["half=east|west", "lon=-74.1:-73.9:4"]
    found = release.profile(rows, columns=columns, epsilon=1.0, progress=lambda *step: steps.append(step), **charged)
    nothing = release.profile(rows, columns=["half=east|west"], epsilon=0.01, **charged)
    others = {"against": {"the same": release}, "public_centres": {"one": [[-74.0, 40.8]]}}
    asked_too = {"within": 500.0, "clip": 5000.0, "progress": lambda *step: steps.append(step)}
    scores = release.score(rows, epsilon=2.0, **others, **asked_too, **charged)
    made = (("Profile", found), ("Profile", nothing), ("Score", scores))
    documents = (of_json(what, json.loads(each.to_json())) for what, each in made)
    return joined(*documents, of_steps(steps), of_release(release))


def found(town: Town, folder: Path, **asked: Any) -> Fields:
    """What is in the clusters of a release, by categories that nobody declared."""
    rows = town.people().assign(a=lambda rows: "about " + rows.lon.round(2).astype(str))
    release = fit(rows, k=2, epsilon=1.0, bounds=BOX, **asked)
    told = release.profile(rows, columns=["a=private"], epsilon=2.0, delta=1e-4, **asked)
    return joined(of_json("Profile", json.loads(told.to_json())), of_release(release))


def scored(town: Town, folder: Path) -> Fields:
    """Scores of plain columns, where little is asked and not everything can be told."""
    rows = town.points()
    release = fit(rows, k=1, epsilon=1.0, bounds=(-1, 1), objective="k-median")
    found = [release.score(rows, epsilon=each) for each in (1.0, 0.001)]
    return joined(*(of_json("Score", json.loads(each.to_json())) for each in found), of_release(release))


def from_outside(town: Town, folder: Path) -> Fields:
    """A fit with an algorithm that another package offers."""
    with offered() as name:
        return one_fit(town, folder, algorithm=name)


def _cases() -> Iterator[tuple[str, Case]]:
    for name, row in ALGORITHMS.items():
        for objective, relation in itertools.product(row.objectives, map(str, row.neighbours)):
            asked = {**settings_of(name), "objective": objective, "neighbours": relation}
            rows = (700, 700) if relation == "replace-one" else (700, 500)
            yield f"{name}, {objective}, {relation}", Case(partial(one_fit, **asked), rows=rows)
    for sample in (0.5, 200, "auto", "auto:0.5"):
        tags = frozenset() if sample == 0.5 else frozenset({"a size"})
        yield f"sample {sample}", Case(partial(one_fit, algorithm="net-coreset", sample=sample), tags)
        asked = {"algorithm": "grid", "sample": sample, "neighbours": "replace-one"}
        yield f"sample {sample}, replace-one", Case(partial(one_fit, **asked), rows=(700, 700))
    kept = {"keep_synopsis": True}
    for name in ALGORITHMS:  # what is chosen from a noisy number of rows differs where noise is large
        asked = {**settings_of(name), "epsilon": 0.02}
        yield f"{name} with little budget", Case(partial(one_fit, **asked))
    net = {"base": "net", "c": 2}
    yield "a base of nets", Case(partial(one_fit, epsilon=5, algorithm="net-coreset", algorithm_params=net))
    yield "exact-coreset of a sample", Case(partial(one_fit, algorithm="exact-coreset", sample=0.5))
    yield "synopsis of grid", Case(partial(one_fit, algorithm="grid", algorithm_params=kept, sample=0.5))
    yield "synopsis of auto", Case(partial(one_fit, algorithm_params=kept, delta=1e-6))
    parts = {"rows_per_part": 300, "too_few": "run"}
    few = {**settings_of("ball-coreset"), "epsilon": 0.2}
    yield "too few rows", Case(partial(one_fit, **few))
    yield "parts", Case(partial(one_fit, epsilon=0.1, algorithm="ball-coreset", algorithm_params=parts))
    yield "auto in a ball of six columns", Case(partial(wide, epsilon=0.5, delta=1e-6, algorithm_params=kept))
    yield "auto in a box of six columns", Case(partial(wide, bounds=Box(**dict.fromkeys("abcdef", (-1, 1)))))
    yield "distances of plain columns", Case(partial(one_fit, epsilon=5))
    for name, made in (("two", one_fit), ("six", partial(wide, epsilon=4))):
        asked = {"k": "auto", "k_range": (2, 5)}
        yield f"how many clusters in {name} columns", Case(partial(made, **asked), frozenset({"auto k"}))
    yield "private bounds", Case(privately, frozenset({"private bounds"}))
    yield "all errors", Case(partial(on_map, errors="full"))
    yield "all errors of many columns", Case(partial(wide, errors="full"))
    yield "no errors", Case(partial(on_map, errors="none"))
    yield "a map with a ledger", Case(partial(on_map, choice="asked for on Monday"))
    yield "an algorithm from outside", Case(from_outside)
    yield "zones", Case(partial(on_map, zones=ZONES, delta=1e-6, algorithm="max-cover"))
    yield "people", Case(partial(on_map, person="who", rows_per_person=2, sample=0.5, missing="drop"))
    yield (
        "people of auto",
        Case(partial(on_map, epsilon=2, person="who", rows_per_person="auto"), frozenset({"auto people"})),
    )
    yield "a profile", Case(profiled)
    yield "private categories", Case(found, frozenset({"private categories"}))
    yield "scores of one centre", Case(scored)
    yield "a profile of people", Case(partial(profiled, person="who", rows_per_person=2))
    for method in METHODS.values():
        yield f"coreset by {method}", Case(partial(one_coreset, method=method))
    yield "merged coresets", Case(merged)
    yield "levels", Case(levels)
    yield "levels with zones", Case(partial(levels, zones=ZONES))
    yield "levels of people", Case(partial(levels, person="who"))
    yield "studio", Case(studio)
    yield "studio with zones", Case(partial(studio, zones=ZONES), frozenset({"zones"}))
    yield "seeded studio", Case(partial(studio, seed=7))
    yield "commands", Case(commands)


CASES = dict(_cases())


def made(name: str, *, town: int, noise: int, folder: Path) -> Fields:
    """The fields of all that one case publishes, of one of two towns, with one of any number of streams of noise."""
    case = CASES[name]
    folder.mkdir()
    with same_randomness(noise):
        return case.make(Town(town, case.rows[town]), folder)

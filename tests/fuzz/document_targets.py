"""Documents of Covey and maps, damaged: releases, coresets, levels, profiles, scores, ledgers, anchors and maps."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from clean import Target, clean
from damage import changed, changes, values, wounded, wounds
from hypothesis import strategies as st

from canary import CANARY, TEXT
from covey import Box, Coreset, Ledger, PrivateCoreset, Release
from covey.budget.accounting.promise import Promise
from covey.fit.fit import fit
from covey.fit.slider import LevelSet, fit_levels
from covey.fit.zones import Zones
from covey.geo.geojson import Region
from covey.public import resolve_bounds
from covey.published.centres import read_centres
from covey.published.coreset.files import to_json, to_parquet
from covey.published.levels.files import to_json as levels_json
from covey.published.profile.profile import Profile
from covey.published.profile.words import sentences
from covey.published.score.score import Score

BOX = Box(lon=(-1, 1), lat=(-1, 1))
PUBLIC = f"{CANARY} {CANARY:e} {TEXT}"  # documents may be quoted: all of them are public
POINTS = np.array([[0.0, 0.0], [0.5, -0.5], [1.0, 1.0]])


@cache
def good() -> dict[str, bytes]:
    """Good documents of every kind."""
    import pandas as pd

    rows = pd.DataFrame(np.random.default_rng(6).uniform(-1, 1, (200, 2)), columns=["lon", "lat"])
    points = PrivateCoreset(method="grid", epsilon=1.0, bounds=BOX).fit(rows).coreset_.reduce(12, random_state=1)
    release = fit(rows, k=2, epsilon=1.0, bounds=BOX, algorithm="lloyd")
    levels = fit_levels(rows, bounds=BOX, levels=[("a", 0.5), ("b", 1.0)], per_axis=4)
    ring = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5]]
    zone = {"type": "Polygon", "coordinates": [ring, [[0, 0], [0.1, 0], [0.1, 0.1], [0, 0]]]}
    feature = {"type": "Feature", "geometry": zone, "properties": {"epsilon": 0.5, "name": "home"}}
    multi = {"type": "MultiPolygon", "coordinates": [[ring], [[[2, 2], [3, 2], [3, 3]]]]}
    sites = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [x, y]}, "properties": {"set": "a"}}
        for x, y in POINTS.tolist()
    ]
    return {
        "release": release.to_json(),
        "profile": release.profile(rows, columns=["lon", "lat=-1:1:3"], epsilon=1.0).to_json(),
        "score": release.score(rows, epsilon=1.0, within=10_000.0, public_centres={"b": POINTS}).to_json(),
        "coreset": to_json(points),
        "parquet": to_parquet(points),
        "levels": levels_json(levels),
        "map": json.dumps({"type": "FeatureCollection", "features": [feature, feature]}).encode(),
        "area": json.dumps({"type": "GeometryCollection", "geometries": [zone, multi]}).encode(),
        "sites": json.dumps({"type": "FeatureCollection", "features": sites}).encode(),
        "table": b"lon,lat,set\n0,0,a\n0.5,0.5,b\n",
        "lists": json.dumps({"a": POINTS.tolist(), "b": [[0, 0]]}).encode(),
    }


def broken(content: bytes, damage: tuple[str, Any]) -> bytes:
    """Damaged by bytes, or by structure."""
    how, what = damage
    if how == "bytes" or content[:1] not in (b"{", b"["):
        return wounded(content, what if how == "bytes" else [("flip", 0.5, 3, b"x")])
    try:
        return json.dumps(changed(json.loads(content), what)).encode(errors="surrogatepass")
    except RecursionError:
        return b"[" * 100_000


damages = st.one_of(
    st.tuples(st.just("bytes"), wounds),
    st.tuples(st.just("structure"), changes),
    st.tuples(st.just("structure"), st.lists(st.nothing(), max_size=0) | changes),  # some stay whole
)


def a_release(damage: Any, _: Path) -> None:
    with clean(PUBLIC):
        found = Release.from_json(broken(good()["release"], damage))
        found.to_json(), repr(found), found.certificate.statement
        found.to_geojson(lon=found.columns[0], lat=found.columns[-1])


def a_coreset(value: tuple[str, Any], folder: Path) -> None:
    name, damage = value
    path = folder / "coreset"
    path.write_bytes(broken(good()[name], damage))
    with clean(PUBLIC):
        found = Coreset.load(path)
        repr(found), found.total, found.certificate.statement
        found.cost(np.zeros((1, len(found.columns))))
        found.kmeans(2, starts=1)
        found.reduce(4, random_state=1)
        found.to_geojson(lon=found.columns[0], lat=found.columns[-1])


def some_levels(damage: Any, folder: Path) -> None:
    path = folder / "levels.json"
    path.write_bytes(broken(good()["levels"], damage))
    with clean(PUBLIC):
        found = LevelSet.load(path)
        found.coreset(0), found.meaning(0), found.expected(0)
        found.release(0, 2)


def a_profile(damage: Any, _: Path) -> None:
    with clean(PUBLIC):
        found = Profile.from_json(broken(good()["profile"], damage))
        found.to_json(), sentences(found), found.records(), found.certificate.statement


def a_score(damage: Any, _: Path) -> None:
    with clean(PUBLIC):
        found = Score.from_json(broken(good()["score"], damage))
        found.to_json(), found.within_knots(), found.certificate.statement
        for other in found.sets:
            found.told(other.name), found.is_better(other.name)


def a_map(value: tuple[str, Any], folder: Path) -> None:
    name, damage = value
    path = folder / "map.geojson"
    path.write_bytes(broken(good()[name], damage))
    with clean(PUBLIC):
        Region.read(path).contains(POINTS)
    with clean(PUBLIC):
        Zones.read(path).on(resolve_bounds(BOX, names=("lon", "lat"), width=2))


def some_centres(value: tuple[str, Any], folder: Path) -> None:
    name, damage = value
    path = folder / "centres"
    path.write_bytes(broken(good()[name], damage))
    with clean(PUBLIC):
        found = read_centres(str(path), ("lon", "lat"))
        _points().compare(found)


@cache
def _points() -> Coreset:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "coreset.json"
        path.write_bytes(good()["coreset"])
        return Coreset.load(path)


def any_document(value: Any, _: Path) -> None:
    """Python values in place of parsed documents."""
    with clean(PUBLIC):
        Region.read(value).contains(POINTS)
    with clean(PUBLIC):
        Zones.read(value).on(resolve_bounds(BOX, names=("lon", "lat"), width=2))


# --- ledgers ----------------------------------------------------------------------------------------------------------


@cache
def a_good_ledger() -> bytes:
    """A ledger that has spent 3 of 4."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "city.ledger"
        book = Ledger.create(path, dataset="trips", epsilon=4)
        for number in range(3):
            receipt = book.charge("trips", Promise.of(1, 0), purpose="k-means", key=str(number), parameters="x")
            book.finish(receipt, b"document")
        return path.read_bytes()


def a_ledger(value: list[Any], folder: Path) -> None:
    """Damaged, a ledger is refused; or the damage is where it does not matter, and no charge is forgotten."""
    path = folder / "city.ledger"
    path.write_bytes(wounded(a_good_ledger(), value))
    with clean(PUBLIC):
        book = Ledger.open(path)
        report = book.verify()
        assert report.datasets[0].spent.epsilon == 3, "a damaged ledger has forgotten a charge"
        assert book.stored("trips", key="1", parameters="x") == b"document"
        book.charge("trips", Promise.of(1, 0), purpose="one more")
        assert book.verify().datasets[0].spent.epsilon == 4
    for left in folder.glob("city.ledger*"):
        left.unlink()


def an_anchor(damage: Any, folder: Path) -> None:
    path, anchor = folder / "city.ledger", folder / "anchor.json"
    Ledger.create(path, dataset="trips", epsilon=4, anchor=anchor)
    before = anchor.read_bytes()
    anchor.write_bytes(broken(before, damage))
    with clean(PUBLIC):
        Ledger.open(path).charge("trips", Promise.of(1, 0), purpose="one")
        assert json.loads(anchor.read_bytes())["ledger"] == json.loads(before)["ledger"]
    for left in (*folder.glob("city.ledger*"), *folder.glob("anchor.json*")):
        left.unlink()


WHOLE: tuple[str, list[Any]] = ("bytes", [])
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}
TARGETS = {
    "release files": Target(damages, a_release, WHOLE, weight=3),
    "coreset files": Target(
        st.tuples(st.sampled_from(["coreset", "parquet"]), damages), a_coreset, ("coreset", WHOLE), weight=3
    ),
    "levels files": Target(damages, some_levels, WHOLE, weight=2),
    "profile files": Target(damages, a_profile, WHOLE, weight=2),
    "score files": Target(damages, a_score, WHOLE, weight=2),
    "GeoJSON files": Target(st.tuples(st.sampled_from(["map", "area"]), damages), a_map, ("map", WHOLE), weight=2),
    "GeoJSON values": Target(values, any_document, SQUARE, weight=1),
    "centre files": Target(
        st.tuples(st.sampled_from(["sites", "table", "lists", "release"]), damages), some_centres, ("table", WHOLE)
    ),
    "ledger files": Target(wounds, a_ledger, [], weight=3),
    "anchor files": Target(damages, an_anchor, WHOLE, weight=1),
}

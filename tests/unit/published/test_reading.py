"""Whatever Covey writes is read back by what it says it is; anything else is refused with what is wrong."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from covey import Box, Coreset, Release
from covey.errors import FormatError
from covey.fit.fit import fit
from covey.fit.slider import fit_levels
from covey.published.characters import WIDTH, character_map
from covey.published.coreset.files import to_json, to_parquet
from covey.published.levels.levels import LevelSet
from covey.published.reading import read_published

BOX = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))


@pytest.fixture(scope="module")
def release() -> Release:
    rng = np.random.default_rng(1)
    rows = np.array([[-74.05, 40.85], [-73.95, 40.75]])[rng.integers(2, size=2000)] + rng.normal(0, 0.005, (2000, 2))
    return fit(rows, k=2, epsilon=2.0, bounds=BOX, random_state=1, algorithm_params={"keep_synopsis": True})


def test_every_file_that_covey_writes_is_read(release, tmp_path):
    coreset = Coreset.of(release)
    release.save(tmp_path / "r.json")
    coreset.save(tmp_path / "c.json")
    coreset.save(tmp_path / "c.parquet")
    fit_levels(np.zeros((50, 2)), bounds=(-1, 1), random_state=1).save(tmp_path / "l.json")
    assert read_published(tmp_path / "r.json") == release
    assert read_published(tmp_path / "c.json") == coreset
    assert read_published(tmp_path / "c.parquet") == coreset
    assert isinstance(read_published(tmp_path / "l.json"), LevelSet)


def changed(release: Release, **fields: object) -> bytes:
    return json.dumps({**json.loads(release.to_json()), **fields}).encode()


def test_files_that_are_none_are_refused_with_what_they_are(release, tmp_path):
    file = tmp_path / "file"
    document = json.loads(release.to_json())
    domain = {**document["certificate"], "domain": {"type": "box", "lower": [1, 1], "upper": [0, 0]}}
    coreset = json.loads(to_json(Coreset.of(release)))
    box = {"type": "box", "lower": [-75, 40], "upper": [-73, 41]}
    for content, words in (
        (b"", "no file that Covey publishes, a release, a coreset or levels, or it is damaged"),
        (b"\xff\xfe\x00", "no file that Covey publishes"),
        (b"[" * 100_000, "no file that Covey publishes"),
        (b"{}", "JSON, but not"),
        (b'{"type": "FeatureCollection", "features": []}', "GeoJSON; give the file"),
        (b'{"format": {"covey-release": 1}}', "JSON, but not"),
        (b'{"format": "covey-levels"}', "levels"),
        (b'{"format": "covey-coreset"}', "version"),
        (to_parquet(Coreset.of(release))[:-9], "damaged"),
        (json.dumps({**coreset, "weights": [1e308] * len(coreset["weights"])}).encode(), "absurdly many rows"),
        (changed(release, version=99), "version 1"),
        (changed(release, centres=[[1, 2, 3]]), "do not match"),
        (changed(release, centres=[[1e300, 0], [0, 0]]), "absurdly far"),
        (changed(release, certificate=domain), "no possible promise"),
        (changed(release, certificate={**domain, "domain": {**box, "upper": [10**300, 41]}}), "no possible promise"),
        (changed(release, certificate={**domain, "domain": {**box, "scale": [1, 5e-324]}}), "no possible promise"),
        (changed(release, columns=["lon", "lon"]), "same name"),
        (changed(release, sizes=[1e19, 0]), "absurdly many rows"),
        (changed(release, errors={"sizes": [[0, 1e300], [0, 1]]}), "absurdly many rows"),
        (changed(release, synopsis={"cells_per_axis": -1, "counts": [1]}), "synopsis does not match"),
        (changed(release, errors={"distances": {"mean_m": [5, 6, 4]}}), "do not match"),
        (changed(release, errors={"distances": {"mean_m": [-5, -6, -4]}}), "do not match"),
        (changed(release, errors={"distances": {"miles": [5, 4, 6]}}), "do not match"),
    ):
        file.write_bytes(content)
        with pytest.raises(FormatError, match=words):
            read_published(file)
    with pytest.raises(FormatError, match="cannot read"):
        read_published(tmp_path / "nowhere.json")


# --- maps in characters -----------------------------------------------------------------------------------------------


def test_a_map_of_characters_has_centres_where_they_are_and_a_border_between(release):
    lines = character_map(release)
    assert lines[1] == "+" + "-" * WIDTH + "+"
    body = [line[1:-1] for line in lines[2:-3]]
    assert {len(line) for line in body} == {WIDTH}
    west = next(i for i, (lon, _) in enumerate(release.centres) if lon < -74)
    [(row, column)] = [(i, line.index(str(west))) for i, line in enumerate(body) if str(west) in line]
    assert row < len(body) / 2
    assert column < WIDTH / 2
    assert any("." in line for line in body)
    assert "".join(body).isascii()
    assert lines[0] == "lat 40.90000"
    assert lines[-1].split() == ["lon", "-74.10000", "-73.90000"]


def test_doubt_is_marked_and_names_are_plain(release):
    errors = msgspec.structs.replace(release.errors, doubtful=[True, False])
    odd = msgspec.structs.replace(release, errors=errors, columns=["a\x1b[31m", "b"])
    text = "\n".join(character_map(odd))
    assert "0?" in text
    assert "1?" not in text
    assert "\x1b" not in text


def test_a_map_of_a_coreset_is_dark_where_rows_are(release):
    body = [line[1:-1] for line in character_map(Coreset.of(release))[2:-3]]
    top, bottom = body[: len(body) // 2], body[len(body) // 2 :]
    for half, side in ((top, slice(0, WIDTH // 2)), (bottom, slice(WIDTH // 2, WIDTH))):
        assert any("@" in line[side] or "%" in line[side] for line in half)


def test_other_than_two_columns_have_no_such_map(release):
    domain = {"type": "box", "lower": [0, 0, 0], "upper": [1, 1, 1]}
    certificate = msgspec.structs.replace(release.certificate, domain=domain)
    three = msgspec.structs.replace(
        release, columns=["a", "b", "c"], centres=[[0.1, 0.2, 0.3]], certificate=certificate, errors=None, synopsis=None
    )
    assert character_map(three) == []

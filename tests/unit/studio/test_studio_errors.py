"""What the studio says of errors: with every level, in the background, in publications, and in comparisons."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the studio's packages are not installed: pip install 'covey[studio]'")

from covey import Box, Release
from covey.studio import places as places_module
from covey.studio.places import Places
from studio_client import asking

BOX = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))


@pytest.fixture(scope="module")
def looked(tmp_path_factory):
    rng = np.random.default_rng(3)
    middles = np.array([[-74.05, 40.75], [-73.95, 40.74], [-74.0, 40.85]])
    rows = np.repeat(middles, 700, axis=0) + rng.normal(0, 0.004, (2100, 2))
    studio = asking(tmp_path_factory.mktemp("studio"), data=rows, bounds=BOX, seed=1, allow_seeded=True)
    studio.look()
    return studio


def places(studio, path: str) -> dict:
    end = time.monotonic() + 200
    while (found := studio.get(path).json())["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_places_are_found_in_the_background(looked):
    first = looked.get("api/places/3?k=3").json()
    assert first == {"state": "running"}
    found = places(looked, "api/places/3?k=3")
    assert found["state"] == "done"
    assert len(found["radii"]) == 3
    assert found["excess"] > 0
    assert looked.get("api/places/3?k=3").json() == found


def test_before_the_look_and_beyond_the_slider_there_are_none(looked, tmp_path):
    assert asking(tmp_path, data=np.zeros((5, 2)), bounds=BOX).get("api/places/2").status_code == 409
    assert looked.get("api/places/7").status_code == 404
    assert looked.get("api/places/2?k=0").status_code == 422


def test_the_noise_that_is_told_of_a_box_holds_nine_times_in_ten(looked):
    """By the exact law of a sum of discrete Laplace noise, for the boxes that a level has; 10% less would not do."""
    levels = looked.studio.views().levels
    for level in range(5):
        drawn, strength = looked.get(f"api/levels/{level}").json(), float(levels.strength(level))
        finest = np.min([side[1] for side in drawn["sides"]])  # of the boxes there are: some number of cells
        cells = round((finest / (levels.expected(level)["finest_cell"][1])) ** 2)
        for side, told in zip(drawn["sides"], drawn["noise"], strict=True):
            many = cells * round(side[1] / finest) ** 2
            assert 0.9 <= within(many, strength, told) < 0.99, (level, many)
            if told > 20:
                assert within(many, strength, 0.9 * told) < 0.9


def within(many: int, strength: float, most: float) -> float:
    """How often the sum of so many draws is at most so far from 0: from the law's characteristic function."""
    q, size = np.exp(-strength), 1 << 16
    angles = 2 * np.pi * np.arange(size) / size
    law = np.fft.fft(((1 - q) ** 2 / (1 - 2 * q * np.cos(angles) + q * q)) ** many).real / size
    reach = int(most)
    return float(law[: reach + 1].sum() + law[size - reach :].sum()) if reach else float(law[0])


def test_a_later_wish_ends_an_earlier_one_and_what_fails_is_said(looked, monkeypatch):
    asked = []

    def slow(levels, level, k, objective, *, edges, step):
        asked.append(level)
        if level == 4:
            raise ValueError("no such thing")
        for _ in range(10**6):
            step()
            time.sleep(0.001)

    monkeypatch.setattr(places_module, "rehearse_level", slow)
    own = Places(looked.studio.views().levels)
    assert own.ask((1, 2, "k-means", True)) == own.ask((1, 2, "k-means", True)) == {"state": "running"}
    first = own._job[1]
    own.ask((4, 2, "k-means", True))
    first.wait(60)
    assert first.describe()["state"] == "cancelled"
    own._job[1].wait(60)
    assert own.ask((4, 2, "k-means", True)) == {"state": "failed"}
    assert sorted(asked) == [1, 4]


def test_a_publication_holds_all_its_errors(looked):
    made = looked.post("api/publish", {"level": 0, "k": 12, "name": "all"}).json()
    folder = looked.settings.out / made["id"]
    release = Release.load(folder / made["files"][0]["name"])
    assert release.errors.radii is not None
    assert release.coreset.noise is not None
    assert len(release.size_intervals) == 12
    document = json.loads((folder / made["files"][1]["name"]).read_text())
    centres = [each["properties"] for each in document["features"] if each["properties"]["kind"] == "centre"]
    assert [each["doubtful"] for each in centres] == release.doubtful.tolist()
    assert all(each["size_low"] <= each["size"] <= each["size_high"] for each in centres)
    assert sum("radius_m" in each for each in centres) == sum(radius is not None for radius in release.errors.radii)
    page = (folder / made["files"][2]["name"]).read_text()
    doubted = int(release.doubtful.sum())
    assert doubted > 0, "this test is about some that are"
    assert page.count('class="mark hollow"') == page.count("; may be only noise</td>") == doubted
    assert page.count('class="ring"') == sum(radius is not None for radius in release.errors.radii)
    assert page.count(">place not determined</td>") == sum(radius is None for radius in release.errors.radii)
    assert re.search(r"Centres? [A-L, and]+ may be only noise\.", page)
    assert "Each interval holds 9 times in 10" in page


def test_sets_that_noise_decides_are_said_to_be_that(looked):
    sets = {"here": [[-74.0, 40.85]], "same": [[-74.0, 40.85]], "far": [[-73.91, 40.71]]}
    answer = looked.post("api/alternatives", {"level": 4, "sets": sets}).json()
    here, same, far = (answer["sets"][name] for name in sets)
    assert here["low"] < here["cost"] < here["high"]
    assert same["tied"] is True
    assert far["tied"] is False
    assert "cannot be told apart" in answer["note"]
    few = looked.post("api/alternatives", {"level": 0, "sets": {"many": [[-74.0, 40.8]] * 30}}).json()["sets"]["many"]
    assert (few["low"], few["high"]) == (None, None)
    assert "level of privacy" in few["why"]


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("GET", "api/levels/2?k=0", None, "k: must be at least 1"),
        ("GET", "api/levels/2?k=x", None, "k: must be a whole number"),
        ("GET", "api/levels/2?objective=mean", None, "objective: must be 'k-means' or 'k-median'"),
        ("POST", "api/publish", {"level": 2, "k": 3, "name": "x" * 101}, "name: must have at most 100 letters"),
        ("POST", "api/publish", {"level": 2, "k": 3, "name": "a\nb"}, "name: must be one line of text"),
        ("POST", "api/publish", {"level": 2, "k": 3.5}, "k: must be a whole number"),
        ("POST", "api/publish", {"level": 2, "k": 3, "more": 1}, "more: is not known here"),
        ("POST", "api/publish", {"k": 3}, "level: is missing"),
        ("POST", "api/owner", {"on": "yes"}, "on: must be true or false"),
        ("POST", "api/look", {"confirm": True, "epsilon": "many"}, "epsilon: must be a number"),
        ("POST", "api/look", [1], "None: must be an object with names"),
        ("POST", "api/alternatives", {"level": 1, "sets": {}}, "sets: must have at least 1 entries"),
        ("POST", "api/alternatives", {"level": 1, "sets": {"a": 3}}, "sets.a: must be a list"),
    ],
)
def test_what_is_wrong_about_a_request_is_said_in_plain_words(looked, method, path, body, words):
    answer = looked.get(path) if method == "GET" else looked.post(path, body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert f"{error['parameter']}: {error['message']}" == words

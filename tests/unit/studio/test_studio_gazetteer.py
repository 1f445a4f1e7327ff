"""Places by their names, and bounds around them."""

from __future__ import annotations

import json

import pytest

from covey.studio.gazetteer import around, find_places
from studio_client import asking

LIST = {
    "0_5": [["Köln", 6.95, 50.93, 1_000_000], ["Kölner Vorort", 6.8, 50.9, 10]],
    "-8_4": [["Neu-Köln", -74.0, 41.0, 500], ["New York", -74.0, 40.7, 8_000_000]],
}


@pytest.fixture
def folder(tmp_path):
    for name, places in LIST.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(places))
    (tmp_path / "index.json").write_text("[]")
    return tmp_path


def test_a_name_is_found_without_accents_its_beginning_first(folder):
    assert [each["name"] for each in find_places("KOLN", folder=folder)] == ["Köln", "Kölner Vorort", "Neu-Köln"]
    assert find_places("nowhere", folder=folder) == []
    assert find_places("koln", folder=folder / "none") == []


def test_bounds_grow_with_the_people_and_stay_in_the_world():
    west, south, east, north = around(6.95, 50.93, 1_000_000)
    assert (north - south) * 111.32 == pytest.approx(24, rel=0.02)
    assert east - west > north - south, "degrees of longitude are shorter here"
    small = around(6.95, 50.93, 0)
    assert (small[3] - small[1]) * 111.32 == pytest.approx(6, rel=0.03)
    assert around(179.99, 89.9, 10**8)[2:] == [180.0, 89.0]


def test_the_api_answers_in_words_what_is_no_name(tmp_path):
    page = asking(tmp_path)
    assert page.get("api/gazetteer?name=x").json()["error"]["message"] == "must have at least 2 letters"
    assert isinstance(page.get("api/gazetteer?name=Paris").json()["places"], list)

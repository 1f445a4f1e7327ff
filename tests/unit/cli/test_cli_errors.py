"""What the commands print of errors."""

from __future__ import annotations

import contextlib
import io
import json

import numpy as np
import pandas as pd
import pytest

from covey import Release
from covey.cli.main import main

BOUNDS = ("--bounds", "lon=-74.1:-73.9,lat=40.7:40.9", "--seed", "1", "--allow-seeded")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A CSV of two neighbourhoods, a coreset, and one at a level of privacy that tells nothing."""
    place = tmp_path_factory.mktemp("errors")
    rng = np.random.default_rng(1)
    rows = np.repeat([[-74.05, 40.75], [-73.95, 40.85]], 2000, axis=0) + rng.normal(0, 0.006, (4000, 2))
    with contextlib.chdir(place):
        pd.DataFrame(rows, columns=["lon", "lat"]).to_csv("trips.csv", index=False)
        (place / "sites.csv").write_text(
            "set,lon,lat\nhere,-74.05,40.75\nhere,-73.95,40.85\nagain,-74.05,40.75\nagain,-73.95,40.85\nfar,-73.91,40.71\n"
        )
        told("coreset", "trips.csv", "--epsilon", "2", "-k", "2", *BOUNDS, "--out", "c.json")
        told("coreset", "trips.csv", "--epsilon", "0.02", "-k", "2", *BOUNDS, "--out", "little.json")
        told("coreset", "trips.csv", "--epsilon", "2", "-k", "2", *BOUNDS, "--out", "few.json", "--reduce", "40")
    return place


def told(*arguments: str) -> str:
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), write_through=True)) as stream:
        main(arguments)
        return stream.buffer.getvalue().decode()


@pytest.fixture
def covey(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return told


def test_a_fit_tells_as_much_as_it_is_asked(covey):
    usual = ("fit", "trips.csv", "-k", "2", "--epsilon", "1", *BOUNDS)
    quick, full, none = covey(*usual), covey(*usual, "--errors", "full"), covey(*usual, "--errors", "none")
    assert "Each interval holds 9 times in 10" in quick
    assert "probably within" not in quick
    assert full.count("probably within") == 2
    assert "if no cluster was missed" in " ".join(full.split())
    assert "Each interval" not in none
    assert "(1," not in none


def test_what_was_asked_for_is_stored(covey):
    usual = ("fit", "trips.csv", "-k", "2", "--epsilon", "1", *BOUNDS, "--out")
    covey(*usual, "full.json", "--errors", "full", "--geojson", "full.geojson")
    covey(*usual, "none.json", "--errors", "none")
    assert Release.load("full.json").errors.radii is not None
    assert Release.load("none.json").errors is None
    with open("full.geojson") as file:
        first = json.load(file)["features"][0]["properties"]
    assert first["size_low"] <= first["size"] <= first["size_high"]
    assert first["radius_m"] > 0


def test_a_coreset_says_how_far_off_its_own_centres_are(covey):
    usual = ("coreset", "trips.csv", "--epsilon", "2", "-k", "2", *BOUNDS, "--out", "x.json", "--force")
    assert "Its own 2 centres, for example: A row is" in " ".join(covey(*usual).split())
    assert "if no cluster was missed" in " ".join(covey(*usual, "--errors", "full").split())
    assert "Its own" not in covey(*usual, "--errors", "none")


def test_every_answer_has_its_interval_and_ties_are_said(covey):
    printed = covey("query", "c.json", "--centers", "sites.csv")
    lines = {line.split()[0]: line for line in printed.splitlines()[2:5]}
    assert all(" to " in line for line in lines.values())
    assert "cannot be told apart" in lines["again"] + lines["here"]
    assert "cannot be told apart" not in lines["far"]
    assert "Centres that were found on this coreset look a little better" in " ".join(printed.split())
    answers = json.loads(covey("query", "c.json", "--centers", "sites.csv", "--json"))["alternatives"]
    assert all(row["low"] < row["cost"] < row["high"] for row in answers)
    assert sorted(str(row["tied"]) for row in answers) == ["False", "None", "True"]


def test_where_noise_hides_a_cost_no_number_is_shown(covey):
    printed = covey("query", "little.json", "--centers", "sites.csv")
    assert all("cannot be told" in line for line in printed.splitlines()[2:5])
    assert "this level of privacy" in " ".join(printed.split())
    row = json.loads(covey("query", "little.json", "--centers", "sites.csv", "--json"))["alternatives"][0]
    assert row["low"] is None
    assert "level of privacy" in row["why"]


def test_a_coreset_whose_noise_is_not_known_says_so(covey):
    printed = covey("query", "few.json", "--centers", "sites.csv")
    assert printed.count("(error unknown)") == 3 + 1  # distances, and the difference of those that differ
    scaled = covey("query", "few.json", "--centers", "sites.csv", "--scaled")
    assert scaled.count("(error unknown)") == 3 * 3 + 1  # costs too, in all and of a row
    assert "differences are known better" not in " ".join((printed + scaled).split())
    assert "is not known" in printed

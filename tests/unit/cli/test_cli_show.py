"""`covey show`, `covey export` and `covey assign`: what they print and write, and every way to fail."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from covey import Box, Coreset, Release
from covey.cli.main import cli, main
from covey.errors import CoveyError
from covey.fit.fit import fit
from covey.fit.slider import fit_levels
from randomness import same_randomness

BOX = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files as Covey writes them: of seeded fits, so that nothing is left to chance, that say nothing of the seed."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(4)
    places = np.array([[-74.05, 40.75], [-74.0, 40.8], [-73.95, 40.85]])
    rows = pd.DataFrame(places[rng.integers(3, size=3000)] + rng.normal(0, 0.01, (3000, 2)), columns=["lon", "lat"])
    rows.assign(note="canary").to_csv(folder / "trips.csv", index=False)
    asked = {"bounds": BOX, "random_state": 1}
    kept = {"algorithm_params": {"keep_synopsis": True}, "dataset": "trips"}
    release = unseeded(fit(rows, k=3, epsilon=2.0, **asked, **kept))
    release.save(folder / "release.json")
    Coreset.of(release).save(folder / "coreset.parquet")
    levels = fit_levels(rows, **asked)
    replace(levels, certificate=msgspec.structs.replace(levels.certificate, seeded=False)).save(folder / "levels.json")
    fit(rows, k=2, epsilon=1.0, **asked).save(folder / "seeded.json")
    return folder


def unseeded(release: Release) -> Release:
    return msgspec.structs.replace(release, certificate=msgspec.structs.replace(release.certificate, seeded=False))


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in made.iterdir():
        Path(file.name).write_bytes(file.read_bytes())
    with same_randomness(1):  # whether ranges are found privately, and how many regions centres have, is judged here
        yield


def covey(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def refused(*arguments: object) -> str:
    found = covey(*arguments)
    assert found.exit_code != 0
    assert isinstance(found.exception, SystemExit | CoveyError)
    return found.output if isinstance(found.exception, SystemExit) else str(found.exception)


def words(text: str) -> str:
    return " ".join(text.split())


# --- show -------------------------------------------------------------------------------------------------------------


def test_show_has_the_map_the_table_the_promise_and_metres(here):
    done = covey("show", "release.json")
    assert done.exit_code == 0
    assert done.output.startswith("lat 40.90000\n+---")
    assert "rows (noisy)" in done.output
    told = words(done.output)
    assert "differentially private with epsilon = 2" in told
    assert re.search(r"A row is [\d,.]+ k?m \([\d,.]+ to [\d,.]+; 9 times in 10\) from its centre on average", told)
    assert "k-means cost" not in told


def test_the_scaled_cost_is_shown_on_request(here):
    told = words(covey("show", "release.json", "--scaled").output)
    assert "The k-means cost is about" in told
    assert "A row is" not in told


def test_show_of_a_coreset_and_of_levels(here):
    assert "A coreset by auto" in covey("show", "coreset.parquet").output
    told = covey("show", "levels.json").output
    assert "balanced" in told
    assert "most detailed" in told
    assert "A coreset by levels" in covey("show", "levels.json", "--level", "balanced").output
    assert "2 centres to publish" in covey("show", "levels.json", "--level", "balanced", "-k", 2).output


def test_show_draws(here):
    assert "Wrote map.png." in covey("show", "release.json", "--plot", "map.png").output
    assert Image.open("map.png").format == "PNG"
    assert "is there already" in refused("show", "release.json", "--plot", "map.png")
    assert covey("show", "release.json", "--plot", "map.png", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "trips.csv"), "no file that Covey publishes"),
        (("show", "nowhere.json"), "cannot read"),
        (("show", "levels.json", "--level", "rubbish"), "one of 'most private'"),
        (("show", "levels.json", "-k", "2"), "of which level"),
        (("show", "levels.json", "--plot", "x.png"), "which level"),
        (("show", "release.json", "--level", "balanced"), "for a file of levels"),
        (("show", "coreset.parquet", "-k", "3"), "covey query"),
        (("show", "release.json", "--plot", "release.json", "--force"), "another file of this command"),
        (("show", "seeded.json", "--plot", "x.png"), "not private"),
        (("export", "levels.json", "--to", "csv", "--out", "x.csv"), "name one of the levels"),
        (("export", "release.json", "--out", "x.docx"), "geojson, csv"),
        (("export", "release.json", "--out", "no/such/x.csv"), "no folder"),
        (("export", "seeded.json", "--out", "x.csv"), "not private"),
        (("export", "release.json", "--to", "geojson", "--out", "x.geojson", "--lon", "a"), "longitude"),
        (("assign", "coreset.parquet", "trips.csv", "--out", "x.csv"), "holds no centres"),
        (("assign", "release.json", "trips.csv", "--out", "x.parquet"), "end in .csv"),
        (("assign", "release.json", "trips.csv", "--out", "trips.csv", "--force"), "another file of this command"),
        (("assign", "release.json", "seeded.json", "--out", "x.csv"), "GeoJSON"),
    ],
)
def test_what_cannot_be_done_is_said(here, arguments, said):
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert said in words(refused(*arguments))
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_rubbish_in_a_certificate_is_no_bug(here):
    release = Release.load("release.json")
    notes = {"zones": [3, {"name": 1}], "chosen": "\x1b[31m" * 9, "constraints": 7, "not_told": [], "rows_inside": "x"}
    odd = msgspec.structs.replace(release.certificate, parameters=notes, dataset="<b>\x07")
    msgspec.structs.replace(release, certificate=odd, errors=None).save("odd.json")
    done = covey("show", "odd.json")
    assert done.exit_code == 0
    assert "\x1b" not in done.output
    for kind in ("html", "csv", "geojson"):
        assert covey("export", "odd.json", "--to", kind, "--out", f"odd.{kind}").exit_code == 0
    assert "<b>" not in Path("odd.html").read_text()


# --- export -----------------------------------------------------------------------------------------------------------


def test_export_writes_each_kind_once(here):
    for kind in ("geojson", "csv", "gpkg", "html"):
        out = f"x.{kind}"
        assert covey("export", "release.json", "--to", kind, "--out", out).output == f"Wrote {out}.\n"
        before = Path(out).read_bytes()
        assert "is there already; --force" in refused("export", "coreset.parquet", "--to", kind, "--out", out)
        assert Path(out).read_bytes() == before
    assert covey("export", "levels.json", "--level", "detailed", "-k", 2, "--out", "x.csv", "--force").exit_code == 0
    assert len(pd.read_csv("x.csv")) == 2
    assert "<h1>trips</h1>" in Path("x.html").read_text()
    covey("export", "seeded.json", "--allow-seeded", "--out", "x.html", "--force")
    assert "<h1>Private centres</h1>" in Path("x.html").read_text(), "no name of another file"


# --- assign -----------------------------------------------------------------------------------------------------------


def test_assign_says_loudly_that_its_file_is_private(here):
    done = covey("assign", "release.json", "trips.csv", "--out", "assigned.csv")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert words(done.stderr).startswith("PRIVATE: assigned.csv holds your rows as they are")
    assert "no release" in words(done.stderr)
    assert "THE FILE IS PRIVATE" in covey("assign", "--help").output
    found, rows = pd.read_csv("assigned.csv"), pd.read_csv("trips.csv")
    assert found[["lon", "lat", "note"]].equals(rows)
    assert np.array_equal(found.centre, Release.load("release.json").predict(rows))
    assert "is there already" in refused("assign", "release.json", "trips.csv", "--out", "assigned.csv")


def test_errors_of_assign_carry_no_cells(here, capsys):
    Path("bad.csv").write_text("lon,lat\ncanary,1\n")
    with pytest.raises(SystemExit):
        main(["assign", "release.json", "bad.csv", "--out", "x.csv"])
    said = capsys.readouterr().err
    assert "not numeric" in said
    assert "canary" not in said
    assert not Path("x.csv").exists()


# --- answers to further questions ---


def test_profiles_scores_and_bounds_are_shown_as_they_were(here):
    charged = ("--ledger", "x.ledger", "--dataset", "trips")
    covey("ledger", "init", "x.ledger", "--dataset", "trips", "--epsilon", 9)
    asked = ("release.json", "trips.csv", "--epsilon", 1, "--seed", 1, "--allow-seeded")
    told = covey("profile", *asked, "--columns", "lon", "--out", "profile.json").output
    assert covey("show", "profile.json").output in told
    assert "not private" in refused("show", "profile.json", "--plot", "p.png")
    assert covey("show", "profile.json", "--plot", "p.png", "--allow-seeded").output.endswith("Wrote p.png.\n")
    told = covey("score", *asked, "--within", 500, "--out", "score.json").output
    assert covey("show", "score.json").output in told
    ask = ("fit", "trips.csv", "-k", 2, "--epsilon", 4, "--bounds", "lon=private:0.25,lat=private:0.25", *charged)
    done = covey(*ask)
    assert done.exit_code == 0, done.output
    done = covey("ledger", "export", "x.ledger", "--entry", 3, "--out", "bounds.json")
    assert done.exit_code == 0, done.exception
    shown = covey("show", "bounds.json").output
    assert "Ranges that were found privately" in shown
    assert "epsilon = 2" in shown
    assert "no picture" in refused("show", "bounds.json", "--plot", "b.png")
    assert "--level" in refused("show", "bounds.json", "--level", "a")
    document = json.loads(Path("bounds.json").read_text())
    for ends in (None, [1, 0], [0, 1, 2]):
        Path("changed.json").write_text(json.dumps({**document, "ranges": {"lon": ends}}))
        if ends is None:
            assert "no range" in covey("show", "changed.json").output
        else:
            assert "damaged" in refused("show", "changed.json")


# --- fit and query ----------------------------------------------------------------------------------------------------


def test_fit_draws_and_reports(here):
    asked = ("fit", "trips.csv", "-k", 3, "--epsilon", 1, "--bounds", "lon=-74.1:-73.9,lat=40.7:40.9")
    done = covey(*asked, "--plot", "map.png", "--report", "report.html")
    assert done.output.endswith("Wrote map.png, report.html.\n")
    assert Image.open("map.png").format == "PNG"
    assert "<h1>Private centres</h1>" in Path("report.html").read_text()
    assert "another file" in refused(*asked, "--plot", "trips.csv")
    assert "two columns" in refused(
        "fit", "trips.csv", "-k", 3, "--epsilon", 1, "--bounds", "lon=-74.1:-73.9", "--plot", "x.png"
    )


def test_query_writes_centres_for_a_map(here):
    done = covey("query", "coreset.parquet", "-k", 4, "--geojson", "q.geojson", "--plot", "q.png")
    assert done.output.endswith("Wrote q.geojson, q.png.\n")
    kinds = [each["properties"]["kind"] for each in json.loads(Path("q.geojson").read_text())["features"]]
    assert kinds == ["centre"] * 4 + ["region"] * 4
    assert re.search(r"A row is \d\.\d+ km \(.*\) from its centre on average", " ".join(done.output.split()))
    assert "mean distance (noisy)" not in done.output  # alone, there is nothing to compare
    Path("sites.csv").write_text("lon,lat\n-74.05,40.75\n-73.95,40.85\n")
    compared = covey("query", "coreset.parquet", "-k", 4, "--centers", "sites.csv")
    assert "mean distance (noisy)" in compared.output
    assert "Distances are straight over the map." in compared.output
    assert "-k" in refused("query", "coreset.parquet", "--centers", "trips.csv", "--plot", "x.png")
    assert "longitude" in refused("query", "coreset.parquet", "-k", 2, "--geojson", "x.geojson", "--lon", "nothing")


def test_the_epsilon_of_a_level_is_shown_with_all_its_digits(tmp_path):
    levels = fit_levels(np.zeros((5, 1)), bounds=[(-1, 1)], levels=[("a", 0.12345678)], random_state=1)
    levels.save(tmp_path / "levels.json")
    told = CliRunner().invoke(cli, ["show", str(tmp_path / "levels.json")]).output
    assert ["a", "0.12345678"] in [line.split() for line in told.splitlines()]

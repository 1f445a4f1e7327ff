"""`covey coreset` and `covey query`: what they print and write, every way to fail, and what is never spent."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

from covey import Coreset, Ledger, Release
from covey.cli.answers import as_released
from covey.cli.main import cli, main
from covey.errors import DataError, FormatError
from covey.fit.fit import fit
from covey.geo.geojson import Region
from covey.noise.source import OsSource, SeededSource
from covey.post.errors.costs import FEW
from covey.post.random import public_rng
from covey.published.centres import read_centres
from covey.published.coreset.compare import Alternative
from covey.published.sentences import way_words

BOUNDS = ("--bounds", "lon=-74.1:-73.9,lat=40.7:40.9")
SITES = "set,lon,lat\nnorth,-73.95,40.85\nnorth,-74.0,40.8\nsouth,-74.05,40.75\n"


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def same_noise(monkeypatch):
    """Totals, costs and centres are judged here: what the system would draw is the same in every run."""
    source = SeededSource(1)
    monkeypatch.setattr(OsSource, "words", lambda _, count, dtype: source.words(count, dtype))
    for module in ("fit.request", "published.coreset.coreset", "published.coreset.answers", "published.coreset.sites"):
        monkeypatch.setattr(f"covey.{module}.public_rng", lambda seed: public_rng(1 if seed is None else seed))


@pytest.fixture
def covey(capsys):
    """Run a command in this process."""

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            main([str(each) for each in arguments])
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def trips(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    middles = np.array([[-74.05, 40.75], [-74.0, 40.8], [-73.95, 40.85]])
    points = middles[rng.integers(3, size=3000)] + rng.normal(scale=0.004, size=(3000, 2))
    np.savetxt("trips.csv", points, delimiter=",", header="lon,lat", comments="", fmt="%.5f")
    Path("sites.csv").write_text(SITES)
    Ledger.create("city.ledger", dataset="trips", epsilon=3)
    return Path("trips.csv")


@pytest.fixture(scope="module")
def kept():
    """The file of `made`, once it is there."""
    return []


@pytest.fixture
def made(covey, trips, kept):
    if not kept:
        done = covey("coreset", trips, "--epsilon", 2, *BOUNDS, "--out", "coreset.parquet", "--quiet")
        assert done == (0, "", "")
        kept.append(Path("coreset.parquet").read_bytes())
    Path("coreset.parquet").write_bytes(kept[0])
    return Coreset.load("coreset.parquet")


# --- covey coreset ----------------------------------------------------------------------------------------------------


def test_it_says_what_was_made_and_promised(covey, trips):
    done = covey("coreset", trips, "--epsilon", 1, *BOUNDS, "--out", "c.json")
    assert done.code == 0
    assert done.err == ""
    assert "points to publish" in done.out
    assert "epsilon = 1" in done.out
    assert "covey query" in done.out


def test_of_people_it_says_which_rows_count(covey, trips):
    lines = trips.read_text().splitlines()
    trips.write_text("\n".join([f"{lines[0]},who", *(f"{line},{i % 500}" for i, line in enumerate(lines[1:]))]))
    done = covey(
        "coreset", trips, "--epsilon", 2, *BOUNDS, "--person", "who", "--rows-per-person", 2, "--out", "c.json"
    )
    told = " ".join(done.out.split())
    assert re.search(r"rows that count \(noisy; [\d,]+ to [\d,]+, 9 times in 10\) in all", told)
    assert "All numbers here are of the rows that count, at most 2 of each person" in told


@pytest.mark.parametrize("name", ["c.json", "c.parquet"])
def test_files_are_written_and_named(covey, trips, name):
    done = covey("coreset", trips, "--epsilon", 1, *BOUNDS, "--out", name, "--geojson", "c.geojson", "--plot", "c.png")
    assert done.code == 0, done.err
    assert f"Wrote {name}, c.geojson, c.png." in done.out
    coreset = Coreset.load(name)
    features = json.loads(Path("c.geojson").read_text())["features"]
    assert [each["properties"]["weight"] for each in features] == coreset.weights.tolist()
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")
    assert coreset.total == pytest.approx(3000, abs=500)


def test_json_is_the_document_and_nothing_else(covey, trips):
    done = covey("coreset", trips, "--epsilon", 1, *BOUNDS, "--json", "--objective", "k-median", "--method", "grid")
    document = json.loads(done.out)
    assert document["format"] == "covey-coreset"
    assert document["objective"] == "k-median"
    assert document["certificate"]["algorithm"] == "grid"
    assert done.err == ""


def test_reduced(covey, trips):
    assert covey("coreset", trips, "--epsilon", 1, *BOUNDS, "--reduce", 40, "--out", "c.json").code == 0
    coreset = Coreset.load("c.json")
    assert 10 < len(coreset) <= 40
    assert coreset.certificate.parameters["reduced_to"] == len(coreset)


def test_the_ledger_is_charged_and_a_key_gives_the_same_again(covey, trips):
    base = ("coreset", trips, "--epsilon", 1, *BOUNDS, "--ledger", "city.ledger", "--dataset", "trips", "--key", "a")
    first = covey(*base, "--reduce", 30, "--out", "a.json")
    assert "Charged epsilon 1 to data set 'trips'. Left: 2 of 3." in first.out
    again = covey(*base, "--reduce", 30, "--out", "b.json")
    assert "at no cost" in again.out
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert float(Ledger.open("city.ledger").datasets()["trips"].spent.epsilon) == 1


def test_seeded_is_refused_or_confessed(covey, trips):
    base = ("coreset", trips, "--epsilon", 1, *BOUNDS, "--seed", 3)
    for output in (("--out", "c.json"), ("--plot", "c.png"), ("--geojson", "c.geojson")):
        refused = covey(*base, *output)
        assert refused.code == 2
        assert "--allow-seeded" in refused.err
    assert covey(*base, "--allow-seeded", "--out", "c.json", "--plot", "c.png", "--quiet").code == 0
    assert Coreset.load("c.json").certificate.seeded
    assert "NOT PRIVATE" in covey(*base, "--json").out


def test_what_was_paid_for_is_not_lost_with_a_full_disk(covey, trips, monkeypatch):
    def full(*_: object) -> None:
        raise DataError("out: cannot write 'c.json': No space left on device")

    monkeypatch.setattr(Coreset, "save", full)
    done = covey("coreset", trips, "--epsilon", 1, *BOUNDS, "--out", "c.json", "--quiet")
    assert done.code == 2
    assert "No space left" in done.err
    assert json.loads(done.out)["format"] == "covey-coreset"


REFUSED = {
    "unknown method": (("--method", "magic"), "--method"),
    "k of zero": (("-k", 0), "-k"),
    "epsilon of zero": (("--epsilon", 0), "--epsilon"),
    "unknown parameter": (("--param", "magic=1"), "--param"),
    "a csv to write": (("--out", "c.csv"), "--out"),
    "no such folder": (("--out", "nowhere/c.json"), "nowhere"),
    "the same file twice": (("--out", "c.json", "--plot", "c.json"), "c.json"),
    "reduced to nothing": (("--reduce", 1), "--reduce"),
    "quiet for nothing": (("--quiet",), "--quiet"),
    "unknown objective": (("--objective", "k-center"), "--objective"),
    "no such longitude": (("--plot", "c.png", "--lon", "east"), "--lon"),
    "unknown column": (("--bounds", "height=0:1"), "height"),
    "nowhere to go": ((), "--out"),
    "a map is no coreset": (("--geojson", "c.geojson"), "--out"),
    "a drawing is no coreset": (("--plot", "c.png", "--quiet"), "--out"),
}
ABOUT_OUTPUTS = ("quiet for nothing", "nowhere to go", "a map is no coreset", "a drawing is no coreset")


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_line_and_spends_nothing(covey, trips, case):
    arguments, named = REFUSED[case]
    before, files = Path("city.ledger").read_bytes(), sorted(Path().iterdir())
    arguments += () if case in ABOUT_OUTPUTS else ("--json",)
    done = covey("coreset", trips, "--epsilon", 1, *BOUNDS, "--ledger", "city.ledger", "--dataset", "trips", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("covey: error: ")
    assert done.err.count("\n") == 1
    assert named in done.err
    assert Path("city.ledger").read_bytes() == before
    assert sorted(Path().iterdir()) == files


def test_one_column_cannot_be_drawn_but_asked(covey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x\n" + "0.5\n0.25\n" * 200)
    base = ("coreset", "d.csv", "--epsilon", 1, "--bounds", "0:1")
    refused = covey(*base, "--plot", "c.png", "--json")
    assert refused.code == 2
    assert "--plot: needs at least two columns" in refused.err
    assert covey(*base, "--out", "c.json").code == 0
    assert covey("query", "c.json", "-k", 1).code == 0


# --- covey query ------------------------------------------------------------------------------------------------------


def test_costs_are_those_of_the_coreset(covey, made):
    done = covey("query", "coreset.parquet", "--centers", "sites.csv", "--objective", "k-median", "--json")
    answer = json.loads(done.out)
    north = [[-73.95, 40.85], [-74.0, 40.8]]
    costs = {row["name"]: row["cost"] for row in answer["alternatives"]}
    assert costs["north"] == pytest.approx(made.cost(north, objective="k-median"))
    assert [row["name"] for row in answer["alternatives"]] == sorted(costs, key=costs.get)
    assert answer["epsilon"] == 2
    assert answer["release"] is None
    text = covey("query", "coreset.parquet", "--centers", "sites.csv", "--objective", "k-median")
    assert text.code == 0
    assert "north" in text.out
    assert "mean distance (noisy)" in text.out
    assert "k-median cost" not in text.out
    scaled = covey("query", "coreset.parquet", "--centers", "sites.csv", "--objective", "k-median", "--scaled")
    assert "k-median cost (noisy)" in scaled.out
    assert "differentially private" in text.out
    assert "admissible" not in text.out


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_it_finds_centres_again(covey, made, objective):
    done = covey("query", "coreset.parquet", "-k", 3, "--objective", objective, "--out", "r.json")
    assert done.code == 0, done.err
    assert "Wrote r.json." in done.out
    release = Release.load("r.json")
    assert release.objective == objective
    middles = np.array([[-74.05, 40.75], [-74.0, 40.8], [-73.95, 40.85]])
    assert np.abs(np.array(release.centres)[:, None] - middles).max(axis=2).min(axis=0).max() < 0.01
    priced = json.loads(covey("query", "coreset.parquet", "--centers", "r.json", "--json").out)
    assert priced["alternatives"][0]["name"] == "r"


def test_regions_decide_what_is_admissible(covey, made):
    south = {"type": "Polygon", "coordinates": [[[-74.1, 40.7], [-73.9, 40.7], [-73.9, 40.82], [-74.1, 40.82]]]}
    Path("south.geojson").write_text(json.dumps(south))
    done = covey("query", "coreset.parquet", "--centers", "sites.csv", "--allowed", "south.geojson")
    assert "no: site 0 outside the allowed region" in done.out
    forbidden = json.loads(
        covey("query", "coreset.parquet", "--centers", "sites.csv", "--forbidden", "south.geojson", "--json").out
    )
    assert [row["admissible"] for row in forbidden["alternatives"]] == [False, False]
    assert forbidden["alternatives"][0]["difference"] is None


PARK = {"type": "Polygon", "coordinates": [[[-74.02, 40.78], [-73.98, 40.78], [-73.98, 40.82], [-74.02, 40.82]]]}


@pytest.fixture
def limits(made):
    Path("park.geojson").write_text(json.dumps(PARK))
    Path("depots.csv").write_text("lon,lat,name\n-74.05,40.75,old\n-74.0,40.81,in the park\n")
    places = "lat,lon\n40.85,-73.95\n40.8,-74.0\n40.72,-73.92\n"
    Path("places.csv").write_text(places)


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_two_depots_and_where_the_third_goes(covey, limits, objective):
    asked = ("-k", 3, "--fixed", "depots.csv", "--forbidden", "park.geojson", "--objective", objective)
    done = covey("query", "coreset.parquet", *asked, "--out", "r.json")
    assert done.code == 0, done.err
    found = Release.load("r.json")
    assert found.centres[:2] == [[-74.05, 40.75], [-74.0, 40.81]]
    assert found.centres[2] == pytest.approx([-73.95, 40.85], abs=0.01)
    notes = found.certificate.parameters["constraints"]
    assert (notes["fixed"], notes["forbidden_polygons"]) == (2, 1)
    words = " ".join(done.out.split())
    assert "Limits: the first 2 centres were given; all others were found, outside 1 forbidden polygon." in words
    assert "The given places alone would cost" in words
    assert "fixed alone" in done.out
    assert "mean distance (noisy)" in done.out
    refused = [line for line in done.out.splitlines() if "no: " in line]
    assert all(line.startswith("3 anywhere") for line in refused)  # what stands may stand
    told = way_words(*found.errors.distances["mean_m"], metres=True).rstrip(")")
    assert words.count(told) == 2  # one number in words and in the table


def test_before_and_after_in_minutes_at_a_speed(covey, limits):
    asked = ("query", "coreset.parquet", "-k", 3, "--fixed", "depots.csv", "--speed", 30)
    answer = json.loads(covey(*asked, "--json").out)
    assert answer["speed_km_h"] == 30
    free, after, before = answer["alternatives"]
    assert [each["name"] for each in (free, after, before)] == ["3 anywhere", "found by k-means", "fixed alone"]
    for row in (free, after, before):
        for end in ("", "_low", "_high"):
            assert row[f"minutes{end}"] == pytest.approx(row[f"way{end}"] / 500)
    text = covey(*asked).out
    assert "at 30 km/h as the crow flies" in text
    assert f"about {before['minutes']:#.4g} minutes ({before['minutes_low']:#.4g} to " in text
    assert "minutes" not in covey(*asked[:-2]).out


def test_one_set_of_centres_tells_its_minutes_in_a_sentence(covey, made):
    text = covey("query", "coreset.parquet", "-k", 3, "--speed", 6, "--out", "r.json").out
    far, low, high = (f"{each / 100:#.4g}" for each in Release.load("r.json").errors.distances["mean_m"])
    assert f"The way to a centre: about {far} minutes ({low} to {high}) at 6 km/h as the crow flies." in text


def test_no_centre_is_published_inside_the_park(covey, limits):
    done = covey("query", "coreset.parquet", "-k", 3, "--forbidden", "park.geojson", "--json")
    answer = json.loads(done.out)
    assert not Region.read(PARK).contains(answer["release"]["centres"]).any()
    found, free = answer["alternatives"]
    assert (found["admissible"], free["admissible"], free["name"]) == (True, False, "3 anywhere")
    assert 100 < found["way_low"] < found["way"] < 3000
    assert free["difference"] < 0  # what the park costs


def test_places_of_a_list_and_no_others(covey, limits):
    asked = ("-k", 2, "--candidates", "places.csv", "--forbidden", "park.geojson", "--json")
    release = json.loads(covey("query", "coreset.parquet", *asked).out)["release"]
    assert release["centres"] == [[-73.95, 40.85], [-73.92, 40.72]]
    assert release["certificate"]["parameters"]["constraints"]["numbers"] == [0, 2]


@pytest.mark.parametrize(
    "text",
    [
        "Name,Lat,LON\nb,40.85,-73.95\nc,40.72,-73.92\n",
        "lon;lat\n-73,95;40,85\n-73,92;40,72\n",
        "Lon; Lat\n-73.95; 40.85\n-73.92; 40.72\n",
    ],
)
def test_a_list_as_spreadsheets_write_it(covey, limits, text):
    Path("list.csv").write_text(text)
    release = json.loads(covey("query", "coreset.parquet", "-k", 2, "--candidates", "list.csv", "--json").out)[
        "release"
    ]
    assert release["centres"] == [[-73.95, 40.85], [-73.92, 40.72]]


def test_a_list_with_two_columns_of_the_name_is_not_guessed_at(covey, limits):
    Path("list.csv").write_text("Lon,LON,lat\n-73.95,-73.95,40.85\n")
    done = covey("query", "coreset.parquet", "-k", 1, "--candidates", "list.csv")
    assert done.code != 0
    assert "no column 'lon'" in done.err


@pytest.mark.parametrize("text", ["lon,lat\n-73,95,40,85\n", "lat;lon\n1;40,85;-73,95\n", "lon,lat\n1,-73.95,40.85\n"])
def test_a_line_with_more_values_than_columns_is_refused_and_not_cut(covey, made, text):
    """Decimals with commas between commas, or numbers of lines without a name: any place would be read wrongly."""
    Path("list.csv").write_text(text)
    for asked in (("--centers", "list.csv"), ("-k", 1, "--candidates", "list.csv")):
        done = covey("query", "coreset.parquet", *asked)
        assert done.code != 0
        assert f"{asked[-2]}: line 2 has more values than the file has columns" in done.err
    Path("list.csv").write_text("lon,lat\n-73.95,40.85,\n")  # nothing more, after a last comma
    assert covey("query", "coreset.parquet", "--centers", "list.csv").code == 0


def test_columns_named_by_options_are_told_in_metres_and_never_degrees_as_such(covey, trips):
    Path("east.csv").write_text(trips.read_text().replace("lon,lat", "x,y"))
    Path("park.geojson").write_text(json.dumps(PARK))
    bounds = BOUNDS[1].replace("lon", "x").replace("lat", "y")
    covey("coreset", "east.csv", "--epsilon", 2, "--bounds", bounds, "--out", "east.json")
    asked = ("query", "east.json", "-k", 3, "--forbidden", "park.geojson", "--lon", "x", "--lat", "y", "--speed", 30)
    found, free = json.loads(covey(*asked, "--json").out)["alternatives"]
    for row in (found, free):
        assert 100 < row["way_low"] < row["way"] == pytest.approx(row["minutes"] * 500)
    assert f"{way_words(found['way'], found['way_low'], found['way_high'], metres=True)}" in covey(*asked).out


def test_a_distance_that_the_release_tells_is_told_in_the_table_too(made):
    release = made.kmeans(3)
    row = Alternative("found", 1.0, 0.0, admissible=True, reason="", way_why=FEW)
    same = as_released(row, release, 30.0, metres=True)
    assert (same.way, same.way_low, same.way_high) == release.errors.distances["mean_m"]
    assert (same.way_why, same.minutes) == (None, pytest.approx(same.way / 500))
    assert as_released(row, release, None, metres=False) == row  # in other units


def test_both_questions_at_once(covey, made):
    rows = json.loads(covey("query", "coreset.parquet", "--centers", "sites.csv", "-k", 2, "--json").out)
    assert {row["name"] for row in rows["alternatives"]} == {"north", "south", "found by k-means"}
    assert rows["alternatives"][0]["name"] == "found by k-means"
    assert len(rows["release"]["centres"]) == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "CORESET"),
        (("coreset.parquet",), "--centers, -k"),
        (("none.parquet", "-k", 1), "none.parquet"),
        (("trips.csv", "-k", 1), "coreset"),
        (("coreset.parquet", "-k", 0), "-k"),
        (("coreset.parquet", "--centers", "none.csv"), "none.csv"),
        (("coreset.parquet", "--centers", "odd.csv"), "lat"),
        (("coreset.parquet", "--centers", "nan.csv"), "--centers"),
        (("coreset.parquet", "--centers", "empty.csv"), "empty.csv"),
        (("coreset.parquet", "--centers", "wide.json"), "--centers"),
        (("coreset.parquet", "--centers", "sites.csv", "--allowed", "none.geojson"), "allowed"),
        (("coreset.parquet", "--centers", "sites.csv", "--forbidden", "sites.csv"), "forbidden"),
        (("coreset.parquet", "--centers", "sites.csv", "--out", "r.json"), "--out"),
        (("coreset.parquet", "-k", 2, "--out", "coreset.parquet"), "out"),
        (("coreset.parquet", "--centers", "sites.csv", "--objective", "k-center"), "--objective"),
        (("coreset.parquet", "-k", 2, "--allowed", "area.geojson", "--lon", "east"), "--lon"),
        (("coreset.parquet", "-k", 2, "--allowed", "area.geojson"), "--allowed: no part of it lies in the bounds"),
        (("coreset.parquet", "-k", 2, "--forbidden", "world.geojson"), "--forbidden: leaves no place"),
        (
            ("coreset.parquet", "-k", 2, "--candidates", "odd.csv"),
            "--candidates: the file has no column 'lat'; the coreset's columns are lon, lat, "
            "and the file's 'lon', 'height'",
        ),
        (("coreset.parquet", "-k", 2, "--candidates", "none.csv"), "--candidates: cannot read"),
        (("coreset.parquet", "-k", 2, "--candidates", "sites.csv"), "--candidates: 'sites.csv' holds 2 sets"),
        (("coreset.parquet", "-k", 2, "--candidates", "area.geojson"), "no FeatureCollection of points"),
        (("coreset.parquet", "-k", 2, "--candidates", "empty.csv"), "--candidates: 'empty.csv' holds no places"),
        (("coreset.parquet", "-k", 2, "--fixed", "nan.csv"), "--fixed: must be finite"),
        (("coreset.parquet", "-k", 2, "--speed", "0"), "--speed: must be a positive number"),
        (("coreset.parquet", "-k", 2, "--speed", "30", "--lon", "east"), "--speed: needs a map"),
        (("coreset.parquet", "--k-range", "2:3", "--speed", "30"), "ask without --speed"),
        (("coreset.parquet", "-k", 1, "--fixed", "one.csv"), "-k: is 1, which counts the 1 fixed"),
        (("coreset.parquet", "--centers", "one.csv", "--fixed", "one.csv"), "--candidates, --fixed: "),
        (("coreset.parquet", "--centers", "one.csv", "--candidates", "one.csv"), "give -k too"),
        (("coreset.parquet", "-k", 2, "--fixed", "one.csv", "--out", "one.csv"), "another file of this command"),
        (("future.json", "-k", 2), "version 1"),
        (("release.json", "-k", 2), "covey coreset"),
    ],
)
def test_every_refusal_is_one_line_that_teaches(covey, made, arguments, named):
    Path("odd.csv").write_text("lon,height\n1,2\n")
    Path("nan.csv").write_text("lon,lat\nnan,2\n")
    Path("empty.csv").write_text("lon,lat\n")
    Path("wide.json").write_text("[[1, 2, 3]]")
    Path("one.csv").write_text("lon,lat\n-74,40.8\n")
    world = [[-180, -90], [180, -90], [180, 90], [-180, 90]]
    Path("world.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [world]}))
    Path("area.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1]]]}))
    if "future.json" in arguments:
        made.save("future.json")
        Path("future.json").write_text(Path("future.json").read_text().replace('"version": 1', '"version": 2'))
    if "release.json" in arguments:
        made.kmeans(2, starts=2).save("release.json")
    done = covey("query", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("covey: error: ")
    assert done.err.count("\n") == 1
    assert named in done.err


def test_fit_finds_medians_too(covey, trips):
    done = covey("fit", trips, "-k", 3, "--epsilon", 5, *BOUNDS, "--objective", "k-median", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["objective"] == "k-median"


def test_a_synopsis_in_a_release_can_be_asked(covey, trips):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--algorithm", "grid", "--param", "keep_synopsis=true")
    assert covey(*base, "--objective", "k-median", "--out", "r.json", "--quiet").code == 0
    assert Release.load("r.json").objective == "k-median"
    assert covey("query", "r.json", "-k", 3, "--json").code == 0


def test_a_synopsis_without_a_file_is_refused_before_the_charge(covey, trips):
    base = ("fit", trips, "-k", 2, "--epsilon", 1, *BOUNDS, "--algorithm", "grid", "--param", "keep_synopsis=true")
    done = covey(*base, "--ledger", "city.ledger", "--dataset", "trips")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("covey: error: --out: ")
    assert Ledger.open("city.ledger").verify().charges == 0
    assert "synopsis" in json.loads(covey(*base, "--json").out)


# --- files of centres -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "lat,lon\n2,1\n4,3\n", {"a": [[1, 2], [3, 4]]}),
        ("a.csv", "\ufefflon, lat\n1, 2\n", {"a": [[1, 2]]}),
        ("a.csv", "lon,lat,set\n1,2,x\n3,4,y\n5,6,x\n", {"x": [[1, 2], [5, 6]], "y": [[3, 4]]}),
        ("a.json", "[[1, 2], [3, 4]]", {"a": [[1, 2], [3, 4]]}),
        ("a.json", "[[[1, 2]], [[3, 4], [5, 6]]]", {"0": [[1, 2]], "1": [[3, 4], [5, 6]]}),
        ("a.json", '{"x": [[1, 2]]}', {"x": [[1, 2]]}),
        (
            "a.geojson",
            '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"set": "x"}, '
            '"geometry": {"type": "Point", "coordinates": [1, 2, 9]}}]}',
            {"x": [[1, 2]]},
        ),
        (
            "a.geojson",
            '{"type": "Feature", "properties": null, "geometry": {"type": "Point", "coordinates": [1, 2]}}',
            {"a": [[1, 2]]},
        ),
    ],
)
def test_centres_are_read(tmp_path, name, content, expected):
    (tmp_path / name).write_text(content)
    assert read_centres(str(tmp_path / name), ["lon", "lat"]) == expected


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "no column"),
        ("lon,lat\n1,x\n", "line 2"),
        ("lon,lat\n1\n", "line 2"),
        ("{", "not a JSON"),
        ("[]", "no centres"),
        ("{}", "no centres"),
        ('{"format": "covey-release", "columns": ["x", "y"], "centres": [[1, 2]]}', "other columns"),
        ('{"type": "Feature", "geometry": {"type": "Polygon"}}', "not a Point"),
        ('{"type": "FeatureCollection", "features": [3]}', "not a Point"),
        ('{"type": "Feature", "properties": true, "geometry": {"type": "Point", "coordinates": [1, 2]}}', "Point"),
        ('{"type": "FeatureCollection", "features": []}', "no centres"),
    ],
)
def test_what_is_no_file_of_centres_is_refused(tmp_path, content, what):
    (tmp_path / "a").write_text(content)
    with pytest.raises(FormatError, match=f"centers: .*{what}"):
        read_centres(str(tmp_path / "a"), ["lon", "lat"])
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="not a text file"):
        read_centres(str(tmp_path / "b"), ["lon", "lat"])


def test_a_seeded_coreset_is_not_published_by_asking_it(tmp_path):
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 1))
    release = fit(rows, k=2, epsilon=1.0, bounds=(-1, 1), algorithm="net-coreset", random_state=3)
    path, out = tmp_path / "coreset.json", tmp_path / "centres.json"
    Coreset.of(release).save(path)
    refused = CliRunner().invoke(cli, ["query", str(path), "-k", "2", "--out", str(out)])
    assert refused.exit_code != 0
    assert not out.exists()
    allowed = CliRunner().invoke(cli, ["query", str(path), "-k", "2", "--out", str(out), "--allow-seeded"])
    assert allowed.exit_code == 0
    assert b"SEEDED: NOT PRIVATE" in out.read_bytes()


def test_the_number_of_rows_has_an_interval_wherever_it_is_told(covey, made):
    shown = " ".join(covey("show", "coreset.parquet").out.split())
    low, high = re.search(r"rows \(noisy; ([\d,]+) to ([\d,]+), 9 times in 10\) in all", shown).groups()
    assert int(low.replace(",", "")) < made.total < int(high.replace(",", ""))
    answer = json.loads(covey("query", "coreset.parquet", "--centers", "sites.csv", "--json").out)
    assert answer["rows_low"] < answer["rows_noisy"] < answer["rows_high"]
    assert answer["bracket"] is False
    scaled = covey("query", "coreset.parquet", "--centers", "sites.csv", "--scaled").out
    assert re.search(r"\d\.\d+ \([\d.]+ to [\d.]+\)\n", scaled), "what a row costs has an interval"
    assert "The unit of costs is half of lat's range: longitude and latitude count in equal metres" in scaled


def test_a_bracket_is_called_one_whichever_way_the_centres_come(covey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    rows = np.clip(rng.normal(0, 0.1, (6000, 6)) + rng.choice([-0.4, 0.4], (6000, 1)), -1, 1)
    np.savetxt("d.csv", rows, delimiter=",", header="a,b,c,d,e,f", comments="", fmt="%.4f")
    bounds = ("--bounds", ",".join(["-1:1"] * 6))
    assert covey("coreset", "d.csv", "-k", 2, "--epsilon", 20, *bounds, "--out", "c.json").code == 0
    assert covey("query", "c.json", "-k", 2, "--out", "r.json").code == 0
    for asked in (["-k", 2], ["--centers", "r.json"], ["--centers", "r.json", "--scaled"], ["--k-range", "2:4"]):
        told = " ".join(covey("query", "c.json", *asked).out.split()).partition("Distances are")[0]
        assert "The two ends are a bracket" in told, asked
        assert "Each interval holds" not in told, asked


def test_two_files_of_sites_are_not_one_of_them(covey, limits):
    refused = covey("query", "coreset.parquet", "--centers", "depots.csv", "--centers", "places.csv")
    assert refused.code == 2
    assert "--centers: is given 2 times; put all into one file" in refused.err


def test_which_of_the_list_was_chosen_is_said(covey, limits):
    asked = ("-k", 3, "--fixed", "depots.csv", "--candidates", "places.csv", "--forbidden", "park.geojson")
    done = covey("query", "coreset.parquet", *asked, "--out", "r.json")
    assert done.code == 0, done.err
    [taken] = Release.load("r.json").certificate.parameters["constraints"]["numbers"]
    assert f"chosen from 3 places (number {taken}, counted from 0)" in " ".join(done.out.split())

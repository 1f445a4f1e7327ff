"""`covey studio --person`: everything that is shown, released and published promises to people, or is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from test_studio_flow import HOME

from covey import Ledger, Release
from covey.cli.main import cli
from covey.cli.studio import make_settings
from covey.errors import ParameterError
from covey.public import Person
from studio_client import BOUNDS, asking, town

WHO = "all rows with the same 'driver', of which at most 3 count"
OPTIONS = {"bounds": ("lon=-74.1:-73.9,lat=40.7:40.9",), "zones_file": None, "basemap": None, "upload_limit": 1}


@pytest.fixture
def trips(tmp_path):
    places = town()
    frame = pd.DataFrame({"driver": np.arange(len(places)) % 500, "lon": places[:, 0], "lat": places[:, 1]})
    frame.to_parquet(tmp_path / "trips.parquet")
    return tmp_path / "trips.parquet"


@pytest.fixture
def studio(tmp_path, trips):
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=10, person="driver")
    return asking(tmp_path, data=trips, ledger=book, dataset="trips", person=Person("driver", 3))


def test_every_promise_is_to_people(studio):
    before = studio.get("api/state").json()
    assert before["data"]["columns"] == ["lon", "lat"]
    assert before["person"] == {"column": "driver", "rows": 3}
    assert all(WHO in each["meaning"] for each in before["offers"])
    studio.look()
    assert all(WHO in each["meaning"] for each in studio.get("api/state").json()["levels"])
    assert studio.studio.views().levels.rows_per_person == 3
    published = studio.post("api/publish", {"level": 2, "k": 3, "name": "drivers"}).json()
    assert WHO in published["certificate"]["statement"]
    report = next(each for each in published["files"] if each["url"].endswith(".html"))
    assert WHO.replace("'", "&#x27;") in studio.get(report["url"]).text
    release = Release.from_json(studio.post("api/releases", {"k": 2, "epsilon": 1.0}).content)
    assert release.certificate.person == WHO
    assert float(studio.settings.ledger.datasets()["trips"].spent.epsilon) == 3


def test_without_a_ledger_promises_are_to_people_too(tmp_path, trips):
    studio = asking(tmp_path, data=trips, person=Person("driver", 3))
    studio.look()
    release = Release.from_json(studio.post("api/releases", {"k": 2, "epsilon": 1.0}).content)
    assert release.certificate.person == WHO


def test_what_has_no_people_is_not_opened(studio):
    content = b"lon,lat\n-74,40.8\n"
    upload = studio.ask("POST", "api/uploads?name=a.csv", content=content).json()["id"]
    bounds = {"lower": [-74.1, 40.7], "upper": [-73.9, 40.9]}
    answer = studio.post("api/open", {"upload": upload, "columns": ["lon", "lat"], "bounds": bounds})
    assert answer.status_code >= 400
    assert answer.json()["error"]["parameter"] == "person"
    assert "no column 'driver'" in answer.json()["error"]["message"]
    assert studio.post("api/batches", {"points": [[-74.0, 40.8]]}).status_code == 200
    answer = studio.post("api/batches/close", {"columns": ["lon", "lat"], "bounds": bounds})
    assert answer.status_code >= 400
    assert answer.json()["error"]["parameter"] == "person"
    assert studio.get("api/ledger").json()["entries"] == []


def test_an_upload_with_the_column_is_protected_too(studio):
    content = b"driver,lon,lat\n" + b"".join(b"%d,-74.0,40.8\n" % (i % 7) for i in range(300))
    upload = studio.ask("POST", "api/uploads?name=a.csv", content=content).json()["id"]
    body = {"upload": upload, "columns": ["lon", "lat"], "bounds": {"lower": [-74.1, 40.7], "upper": [-73.9, 40.9]}}
    assert studio.post("api/open", body).status_code == 200
    studio.look()
    assert studio.studio.views().levels.certificate.person == WHO


def test_zones_are_refused_for_people(studio, tmp_path, trips):
    answer = studio.ask("PUT", "api/zones", json=HOME)
    assert answer.status_code >= 400
    assert "--person" in answer.json()["error"]["message"]
    with pytest.raises(ParameterError, match="zones"):
        asking(tmp_path, data=trips, person=Person("driver", 3), zones=HOME)


def test_a_column_that_is_not_there_is_told_before_the_browser_opens(tmp_path, trips):
    with pytest.raises(ParameterError, match="person"):
        asking(tmp_path, data=trips, person=Person("chauffeur"))
    with pytest.raises(ParameterError, match="person"):
        asking(tmp_path, person=Person("driver"))  # an array


def test_the_options_of_the_command(tmp_path, trips):
    settings = make_settings(
        str(trips), False, None, out=str(tmp_path), person="driver", rows_per_person=3, **OPTIONS, seed=1
    )
    assert settings.person == Person("driver", 3)
    assert settings.bounds == BOUNDS
    missing = CliRunner().invoke(cli, ["studio", str(trips), "--rows-per-person", "0", "--bounds", "lon=0:1,lat=0:1"])
    assert missing.exit_code == 2
    assert "--rows-per-person" in missing.output
    with pytest.raises(ParameterError, match="rows_per_person: needs person="):
        make_settings(str(trips), False, None, out=str(tmp_path), person=None, rows_per_person=3, **OPTIONS)


EDGES = {"lower": [-74.1, 40.7], "upper": [-73.9, 40.9]}
ZONE = {
    "type": "Feature",
    "properties": {"epsilon": 0.2},
    "geometry": {"type": "Polygon", "coordinates": [[[-74.05, 40.75], [-74.0, 40.75], [-74.0, 40.8], [-74.05, 40.75]]]},
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"person": Person("driver", 100_001)}, "rows_per_person: of 100,001 leaves less"),
        ({"person": Person("driver", "auto")}, "rows_per_person: must be a number"),
        ({"person": Person("driver"), "zones": {"type": "FeatureCollection", "features": [ZONE]}}, "zones"),
    ],
)
def test_a_studio_in_which_no_look_could_ever_be_taken_does_not_start(tmp_path, changes, words):
    with pytest.raises(ParameterError, match=words):
        asking(tmp_path, data=None, **changes)


@pytest.fixture
def uploaded(tmp_path):
    studio = asking(tmp_path, data=None, person=Person("driver", 3))
    lines = [f"{i % 20},{x!r},{y!r}\n" for i, (x, y) in enumerate(town(100).tolist())]
    content = "".join(["driver,lon,lat\n", *lines]).encode()
    return studio, studio.ask("POST", "api/uploads?name=a.csv", content=content).json()["id"]


def test_all_columns_of_an_upload_are_all_but_the_one_that_says_whose_a_row_is(uploaded):
    studio, upload = uploaded
    answer = studio.post("api/open", {"upload": upload, "bounds": EDGES})
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["columns"] == ["lon", "lat"]


def test_a_client_who_asks_for_the_column_of_people_is_told_what_it_is(uploaded):
    studio, upload = uploaded
    body = {"upload": upload, "columns": ["driver", "lon"], "bounds": EDGES}
    answer = studio.post("api/open", body)
    assert answer.status_code == 422
    assert answer.json()["error"]["parameter"] == "columns"
    assert "whose a row is" in answer.json()["error"]["message"]


def test_the_made_up_city_has_no_people_with_several_rows():
    answer = CliRunner().invoke(cli, ["studio", "--demo", "--person", "driver", "--no-browser"])
    assert answer.exit_code == 2
    assert "--demo" in answer.output
    assert "--person" in answer.output

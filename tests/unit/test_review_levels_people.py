"""Reviews of the slider for people with several rows: what was found to break, each with its own test."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from covey import Box, FormatError, Ledger, ParameterError
from covey.budget.accounting.promise import Promise
from covey.cli.main import cli
from covey.fit.slider import fit_levels
from covey.public import Person
from covey.published.levels.files import from_json, to_json
from studio_client import asking, town

LEVELS = [("careful", 0.5), ("bold", 2.0)]
ASKED = {"bounds": Box(lon=(-1, 1), lat=(-1, 1)), "levels": LEVELS, "per_axis": 4}
PEOPLE = {**ASKED, "person": "driver", "rows_per_person": 3}
EDGES = {"lower": [-74.1, 40.7], "upper": [-73.9, 40.9]}
ZONE = {
    "type": "Feature",
    "properties": {"epsilon": 0.2},
    "geometry": {"type": "Polygon", "coordinates": [[[-74.05, 40.75], [-74.0, 40.75], [-74.0, 40.8], [-74.05, 40.75]]]},
}


def trips(drivers: int = 50, each: int = 8) -> pd.DataFrame:
    where = np.random.default_rng(3).uniform(-0.9, 0.9, (drivers * each, 2))
    return pd.DataFrame({"driver": np.repeat(np.arange(drivers), each), "lon": where[:, 0], "lat": where[:, 1]})


def test_a_look_that_was_paid_before_there_were_people_is_still_found_under_its_key():
    """Its parameters were written down without a word about people."""
    book = Ledger.memory(dataset="trips", epsilon=2).with_key("monday")
    found = fit_levels(trips(), **ASKED, random_state=1)
    before = {
        "levels": [["careful", "1/2"], ["bold", "2"]],
        "per_axis": 4,
        "columns": ["lon", "lat"],
        "domain": [False, [0.0, 1.0], [0.0, 1.0]],
        "zones": None,
        "seed": 1,
    }
    paid = book.charge(
        "trips", Promise.of(2), purpose="levels", key="monday", parameters=json.dumps(before, sort_keys=True)
    )
    book.finish(paid, to_json(found))
    again = fit_levels(trips(), **ASKED, random_state=1, ledger=book, dataset="trips")
    assert to_json(again) == to_json(found)
    assert book.datasets()["trips"].spent.epsilon == 2


@pytest.mark.parametrize("rows", [1, 2, 4, None])
def test_a_file_whose_rows_per_person_are_not_those_of_its_promise_is_refused(rows):
    """Its noise would be taken for that of another number of rows."""
    document = json.loads(to_json(fit_levels(trips(), **PEOPLE, random_state=1)))
    parameters = document["certificate"]["parameters"]
    assert parameters.pop("rows_per_person") == 3
    parameters |= {} if rows is None else {"rows_per_person": rows}
    with pytest.raises(FormatError, match="rows per person"):
        from_json(json.dumps(document).encode())


def test_a_file_without_people_that_names_rows_per_person_is_refused():
    document = json.loads(to_json(fit_levels(trips(), **ASKED, random_state=1)))
    document["certificate"]["parameters"]["rows_per_person"] = 2
    with pytest.raises(FormatError, match="rows per person"):
        from_json(json.dumps(document).encode())


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

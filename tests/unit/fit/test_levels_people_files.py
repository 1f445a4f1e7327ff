"""Levels for people with several rows: old looks are found again, files that contradict themselves are refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covey import Box, FormatError, Ledger
from covey.budget.accounting.promise import Promise
from covey.fit.slider import fit_levels
from covey.published.levels.files import from_json, to_json

LEVELS = [("careful", 0.5), ("bold", 2.0)]
ASKED = {"bounds": Box(lon=(-1, 1), lat=(-1, 1)), "levels": LEVELS, "per_axis": 4}
PEOPLE = {**ASKED, "person": "driver", "rows_per_person": 3}


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

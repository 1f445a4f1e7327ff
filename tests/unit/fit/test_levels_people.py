"""The slider for people with several rows: noise for m rows, at most m rows of a person, one charge, honest words."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from covey import Box, FormatError, Ledger, LedgerError, ParameterError
from covey.fit.slider import Cancelled, LevelSet, fit_levels
from covey.post.errors.boxes import laplace_variance
from covey.published.levels.files import from_json, to_json

BOUNDS = Box(lon=(-1, 1), lat=(-1, 1))
LEVELS = [("careful", 0.5), ("bold", 2.0)]
M = 3
ASKED = {"bounds": BOUNDS, "levels": LEVELS, "person": "driver", "rows_per_person": M, "per_axis": 16}


def trips(drivers: int = 200, each: int = 8) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    where = rng.uniform(-0.9, 0.9, (drivers * each, 2))
    return pd.DataFrame({"driver": np.repeat(np.arange(drivers), each), "lon": where[:, 0], "lat": where[:, 1]})


def with_one_more(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """The same, with a driver who has very many rows all over the place, mixed among the others."""
    rng = np.random.default_rng(4)
    where = rng.uniform(-1, 1, (rows, 2))
    new = pd.DataFrame({"driver": np.full(rows, 10**6), "lon": where[:, 0], "lat": where[:, 1]})
    return pd.concat([frame, new]).sample(frac=1, random_state=5)


@pytest.mark.parametrize("engine", ["memory", "files"])
def test_a_person_with_many_rows_moves_every_level_by_at_most_m_rows(engine, tmp_path):
    """The same seed draws the same key and the same noise, so that only the person's rows differ."""
    frames = {"without": trips(), "with": with_one_more(trips(), 20_000)}
    found = {}
    for name, frame in frames.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
        data = frame if engine == "memory" else tmp_path / f"{name}.parquet"
        found[name] = fit_levels(data, **ASKED, engine=engine, random_state=7)
    for before, after in zip(found["without"].counts, found["with"].counts, strict=True):
        assert 0 < np.abs(after - before).sum() <= M
    assert abs(found["with"].rows_noisy - found["without"].rows_noisy) <= M
    everybody = fit_levels(frames["with"], bounds=BOUNDS, levels=LEVELS, per_axis=16, random_state=7)
    assert everybody.rows_noisy > found["with"].rows_noisy + 15_000  # without a cap it would be very many


def test_engines_give_the_same_levels(tmp_path):
    frame = trips()
    frame.to_parquet(tmp_path / "trips.parquet")
    documents = {
        to_json(fit_levels(data, **ASKED, random_state=1)) for data in (frame, frame[::-1], tmp_path / "trips.parquet")
    }
    assert len(documents) == 1


def test_noise_is_for_m_rows():
    """65,536 cells without a row: the variance is known to 1%; noise for one row, or 10% too little, is far off."""
    nobody = pd.DataFrame({"driver": [1], "lon": [0.0], "lat": [0.0]})
    found = fit_levels(nobody, **{**ASKED, "per_axis": 256}, random_state=2)
    assert found.rows_epsilon == Fraction(1, 2) / M / 20
    for level, (_, epsilon) in enumerate(LEVELS):
        strength = epsilon / M - 0.5 / M / 20
        assert float(found.strength(level)) == pytest.approx(strength)
        assert np.var(found.counts[level]) / laplace_variance(1 / strength) == pytest.approx(1.0, abs=0.05)


def test_one_charge_of_the_last_level_and_a_certificate_that_names_the_person():
    book = Ledger.memory(dataset="trips", epsilon=3, person="driver")
    found = fit_levels(trips(), **ASKED, ledger=book, dataset="trips")
    assert book.datasets()["trips"].spent.epsilon == 2
    said = found.certificate
    assert said.epsilon == 2
    assert said.person == "all rows with the same 'driver', of which at most 3 count"
    assert said.parameters["rows_per_person"] == M
    assert "one person (all rows with the same 'driver', of which at most 3 count)" in said.statement
    for level in range(2):
        assert "any one person (all rows with the same 'driver'" in found.meaning(level)
        assert found.release(level, 2).certificate.person == said.person
        assert found.coreset(level).certificate.person == said.person
    assert found.release(0, 2, chosen="in advance").certificate.epsilon == 0.5


def test_a_file_keeps_the_rows_per_person_and_a_damaged_one_is_refused(tmp_path):
    found = fit_levels(trips(), **ASKED, random_state=1)
    found.save(tmp_path / "levels.json")
    again = LevelSet.load(tmp_path / "levels.json")
    assert to_json(again) == to_json(found)
    assert [again.strength(i) for i in range(2)] == [found.strength(i) for i in range(2)]
    document = json.loads(to_json(found))
    for wrong in (0, -3, 2.5, "3", True, None, 10**9, 10**400):
        document["certificate"]["parameters"]["rows_per_person"] = wrong
        with pytest.raises(FormatError, match="damaged"):
            from_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows_per_person": "auto"}, "rows_per_person: must be a number for levels"),
        ({"zones": [(Box(lon=(0, 0.1), lat=(0, 0.1)), 0.3)]}, "zones: are not for levels with person"),
        ({"person": "nobody"}, "nobody"),
        ({"person": None}, "rows_per_person: needs person="),
        ({"rows_per_person": 0}, "rows_per_person"),
        ({"rows_per_person": 10**6, "levels": [("a", 0.1), ("b", 1.0)]}, "rows_per_person: of 1,000,000 leaves"),
    ],
)
def test_what_is_wrong_is_refused_before_the_charge(changes, words):
    book = Ledger.memory(dataset="trips", epsilon=3, person="driver")
    before = book.head
    with pytest.raises(ParameterError, match=words):
        fit_levels(trips(), **{**ASKED, **changes}, ledger=book, dataset="trips")
    assert book.head == before


def test_an_array_has_no_column_of_people():
    with pytest.raises(ParameterError, match="person"):
        fit_levels(np.zeros((5, 2)), bounds=Box((-1, 1), (-1, 1)), person="driver")


def test_a_key_is_bound_to_the_people():
    book = Ledger.memory(dataset="trips", epsilon=9, person="driver").with_key("monday")
    first = fit_levels(trips(), **ASKED, ledger=book, dataset="trips")
    assert to_json(fit_levels(trips(), **ASKED, ledger=book, dataset="trips")) == to_json(first)
    for changes in ({"rows_per_person": M + 1}, {"person": None, "rows_per_person": 1}):
        with pytest.raises(LedgerError, match="other parameters"):
            fit_levels(trips(), **{**ASKED, **changes}, ledger=book, dataset="trips")


def test_reading_people_can_be_cancelled_and_the_charge_stays():
    book, asked = Ledger.memory(dataset="trips", epsilon=3, person="driver"), iter([False] * 2)
    with pytest.raises(Cancelled):
        fit_levels(trips(), **ASKED, ledger=book, dataset="trips", cancelled=lambda: next(asked, True))
    assert book.datasets()["trips"].spent.epsilon == 2

"""A person's own rows and a release: labels by the fit's measure, and files that are private and whole."""

from __future__ import annotations

import stat

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from covey import Box, File, KMeans, Release
from covey.errors import DataError
from covey.fit.assign import assign_file

BOX = Box(lon=(-74.1, -73.9), lat=(0, 1000))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    return pd.DataFrame({"lat": rng.uniform(-100, 1100, 2000), "lon": rng.uniform(-74.12, -73.88, 2000)})


@pytest.fixture(scope="module")
def model(rows):
    return KMeans(4, epsilon=2.0, bounds=BOX, random_state=1).fit(rows)


@pytest.fixture(scope="module")
def release(model) -> Release:
    return model.release_


def test_a_release_labels_rows_as_the_model_does(model, release, rows):
    expected = model.predict(rows)
    assert len(set(expected.tolist())) == 4
    assert np.array_equal(release.predict(rows), expected)
    assert np.array_equal(release.predict(rows[["lon", "lat"]].to_numpy()), expected)
    assert np.array_equal(release.predict(pl.from_pandas(rows)), expected)
    assert np.array_equal(release.predict(pa.Table.from_pandas(rows.assign(more="x"))), expected)
    assert np.array_equal(Release.from_json(release.to_json()).predict(rows), expected)


def test_rows_that_do_not_fit_are_refused_by_name(release, rows):
    with pytest.raises(DataError, match="no column 'lon'"):
        release.predict(rows.rename(columns={"lon": "length"}))
    with pytest.raises(DataError, match="3 columns, without names; the release has 2"):
        release.predict(np.zeros((5, 3)))
    assert release.predict(rows[:0]).tolist() == []


ODD = {"who": ["a,b", 'q"', None, "=1"], "lon": [-74.0, -73.95, None, -80.0], "lat": [10.0, 900.0, 3.0, 500.0]}


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "csv.gz"])
def test_files_are_written_with_their_centres_row_by_row(release, tmp_path, ending):
    frame, file, out = pd.DataFrame(ODD), tmp_path / f"rows.{ending}", tmp_path / "out.csv"
    write = {"parquet": frame.to_parquet, "jsonl": lambda path: frame.to_json(path, orient="records", lines=True)}
    write.get(ending, lambda path: frame.to_csv(path, index=False))(file)
    assign_file(release, File(file), out)
    found = pd.read_csv(out)
    assert list(found.columns) == ["who", "lon", "lat", "centre"]
    assert found.who.fillna("").tolist() == ["a,b", 'q"', "", "=1"]
    expected = [*release.predict(frame[:2]).tolist(), None, int(release.predict(frame[3:])[0])]
    assert [None if np.isnan(each) else int(each) for each in found.centre] == expected
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_many_pieces_and_folders_are_one_file(release, rows, tmp_path):
    for year, part in (("2025", rows[:1200]), ("2026", rows[1200:])):
        folder = tmp_path / "data" / f"year={year}"
        folder.mkdir(parents=True)
        part.assign(centre=7).to_parquet(folder / "part.parquet", row_group_size=100)
    assign_file(release, File(tmp_path / "data"), tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    assert np.array_equal(found["centre_"], release.predict(rows))
    assert found.year.value_counts().to_dict() == {2025: 1200, 2026: 800}
    assert set(found.centre) == {7}


def test_nothing_is_left_of_a_file_that_breaks_off(release, rows, tmp_path, monkeypatch):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "out.csv").write_text("old")

    def broken(*_):
        raise DataError("data: broke off")

    monkeypatch.setattr("covey.private.assigned.to_lattice", broken)
    with pytest.raises(DataError, match="broke off"):
        assign_file(release, File(tmp_path / "rows.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.csv", "rows.csv"]


def test_a_table_without_rows_has_a_header(release, rows, tmp_path):
    rows[:0].to_csv(tmp_path / "rows.csv", index=False)
    assign_file(release, File(tmp_path / "rows.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == '"lat","lon","centre"\n'

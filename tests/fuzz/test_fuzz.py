"""About 1,200 inputs that nobody would give: only clean errors, no canary, bounded time and memory.

The same inputs every time; `full.py` draws 100,000 fresh ones.
"""

from __future__ import annotations

import logging

import pytest
from clean import clean
from data_targets import ENOUGH, data_files
from targets import TARGETS, run_target, share

from canary import CANARY, TEXT
from covey import Ball, Box, DataError, FormatError, ParameterError
from covey.fit.fit import fit
from covey.public import resolve_bounds
from covey.published.centres import read_centres

INPUTS = 1_200


@pytest.mark.parametrize("name", TARGETS)
def test_only_clean_errors(name):
    found = run_target(name, share(name, INPUTS), repeatable=True)
    assert found["inputs"] >= share(name, INPUTS) // 2
    assert found["refused"] > 0


def test_every_way_to_be_unclean_is_noticed(monkeypatch):
    with clean():
        raise DataError("a clean one")
    with pytest.raises(KeyError), clean():
        raise KeyError("x")
    with pytest.raises(AssertionError, match="canary"), clean():
        raise DataError(f"row {CANARY}")
    with pytest.raises(AssertionError, match="canary"), clean():
        logging.getLogger("covey").debug("a row: %s", TEXT)
    monkeypatch.setattr("clean.MOST_SECONDS", 0.01)
    with pytest.raises((AssertionError, TimeoutError)), clean():
        sum(range(3_000_000))


def test_a_column_name_that_is_no_text_is_a_damaged_file(tmp_path):
    """Found by fuzzing: pyarrow decodes the names of an Arrow file's schema only when they are asked for."""
    content = data_files()[".arrow"]
    at = content.rindex(b"note")
    path = tmp_path / "rows.arrow"
    path.write_bytes(content[:at] + b"\xff\xca" + content[at + 2 :])
    with pytest.raises(DataError, match="damaged"):
        fit(path, **ENOUGH)


@pytest.mark.parametrize(
    "make", [Ball, lambda huge: Box((0, huge)), lambda huge: resolve_bounds((0, huge), names=None, width=2)]
)
def test_an_integer_beyond_floats_is_refused_as_a_bound(make):
    """Found by fuzzing: Python's integers have no end, and float() of a large one overflows."""
    with pytest.raises(ParameterError, match="bounds"):
        make(10**400)


def test_a_map_of_sites_whose_features_are_no_list_is_refused(tmp_path):
    """Found by fuzzing."""
    (tmp_path / "sites.geojson").write_text('{"type": "FeatureCollection", "features": null}')
    with pytest.raises(FormatError, match="features"):
        read_centres(str(tmp_path / "sites.geojson"), ("lon", "lat"))


def test_a_table_of_sites_with_a_stray_carriage_return_is_refused(tmp_path):
    """Found by fuzzing."""
    (tmp_path / "sites.csv").write_bytes(b"\rlon,lat\n0,0\n")
    with pytest.raises(FormatError, match="CSV"):
        read_centres(str(tmp_path / "sites.csv"), ("lon", "lat"))

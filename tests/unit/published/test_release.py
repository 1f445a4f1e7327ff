"""What gets published: documents that read back as they were, certificates that do not overstate."""

from __future__ import annotations

import json
import math
import re

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey import Certificate, DataError, FormatError, ParameterError, Release
from covey.fit.fit import fit
from covey.geo.geojson import find_axes


def certificate(**changes) -> Certificate:
    fields = {
        "algorithm": "lloyd",
        "parameters": {"k": 2, "rounds": 5},
        "epsilon": 1.0,
        "delta": 0.0,
        "neighbours": "add-remove",
        "person": "one row",
        "domain": {"type": "box", "lower": [0.0, 0.0], "upper": [1.0, 1.0]},
        "seeded": False,
        "covey": "0.1.0",
    }
    return Certificate(**{**fields, **changes})


def release(**changes) -> Release:
    fields = {
        "objective": "k-means",
        "columns": ["lon", "lat"],
        "centres": [[0.25, 0.5], [0.75, 0.125]],
        "sizes": [12.5, -3.0],
        "certificate": certificate(),
    }
    return Release(**{**fields, **changes})


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.tuples(finite, finite).map(list), min_size=1, max_size=4),
    st.booleans(),
    st.lists(st.text(), min_size=2, max_size=2),
    st.floats(1e-6, 1e4),
    st.none() | st.text(),
)
def test_a_document_reads_back_as_it_was(centres, sized, columns, epsilon, receipt):
    sizes = [float(i) - 1.5 for i in range(len(centres))] if sized else None
    made = release(
        centres=centres, sizes=sizes, columns=columns, certificate=certificate(epsilon=epsilon, receipt=receipt)
    )
    assert Release.from_json(made.to_json()) == made


def test_a_saved_file_is_plain_json_that_says_what_it_promises(tmp_path):
    path = tmp_path / "release.json"
    made = release()
    made.save(path)
    made.save(str(path))  # and again, over itself
    assert Release.load(path) == made
    document = json.loads(path.read_text())
    assert document["format"] == "covey-release"
    assert document["version"] == 1
    assert document["statement"] == made.certificate.statement
    assert document["centres"] == made.centres
    assert [each.name for each in tmp_path.iterdir()] == ["release.json"]


def test_a_release_cannot_be_changed():
    with pytest.raises(AttributeError):
        release().sizes = None


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.2, 1.0, 3.0, 10.0, 709.0, 710.0, 10_000.0])
def test_the_statement_never_promises_more_than_is_true(epsilon):
    """ "At most a factor of x": x is rounded up, and no epsilon is too large to be said."""
    statement = certificate(epsilon=epsilon).statement
    factor = re.search(r"factor of at most ([0-9.E+]+[0-9])", statement)[1]
    from decimal import Decimal

    assert Decimal(factor) >= Decimal(epsilon).exp()
    assert Decimal(factor) <= Decimal(epsilon).exp() * Decimal("1.01")
    assert f"epsilon = {epsilon:g}" in statement


def test_the_statement_says_what_is_hidden():
    assert "is in the data or not" in certificate().statement
    assert "The number of people is protected too." in certificate().statement
    replaced = certificate(neighbours="replace-one").statement
    assert "whatever the values of one person" in replaced
    assert "not protected: it is treated as public" in replaced
    assert "delta" not in certificate().statement
    assert "delta = 1e-06" in certificate(delta=1e-6).statement
    beyond = "the chance of any set of results changes by a factor of at most 2.72, and beyond that by at most 1e-06."
    assert beyond in certificate(delta=1e-6).statement  # "but for a chance of delta" is not true of Gaussian noise
    assert "nobody has counted" in certificate().statement
    assert "nobody has counted" not in certificate(receipt="ab").statement
    assert "SEEDED" not in certificate().statement
    assert certificate(seeded=True).statement.startswith("SEEDED: NOT PRIVATE")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"format": "other"}',
        b'{"format": "covey-release"}',
        b'{"format": "covey-release", "version": 2}',
        b'{"format": "covey-release", "version": 1}',
    ],
)
def test_other_documents_are_refused(content, tmp_path):
    with pytest.raises(FormatError, match="release"):
        Release.from_json(content)
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="release"):
        Release.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"centres": []},
        {"centres": [[0.5]]},
        {"centres": [[0.5, "x"]]},
        {"sizes": [1.0]},
        {"sizes": "many"},
        {"columns": ["lon"]},
        {"certificate": {}},
        {"certificate": None},
        {"objective": 3},
    ],
)
def test_damaged_documents_are_refused(change):
    document = json.loads(release().to_json()) | change
    with pytest.raises(FormatError, match="damaged"):
        Release.from_json(json.dumps(document).encode())


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"absent\.json"):
        Release.load(tmp_path / "absent.json")
    with pytest.raises(DataError, match="out: cannot write"):
        release().save(tmp_path / "no folder" / "x.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="out: cannot write"):
        release().save(tmp_path / "folder")
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize(
    "columns", [["lon", "lat"], ["Longitude", "LATITUDE"], ["lat", "lng"], ["pickup_lon", "pickup_lat"]]
)
def test_geojson_finds_the_axes(columns):
    document = release(columns=columns).to_geojson()
    assert document["type"] == "FeatureCollection"
    east = 1 if columns[0].lower().startswith("lat") else 0
    for feature, centre in zip(document["features"], release().centres, strict=True):
        assert feature["geometry"] == {"type": "Point", "coordinates": [centre[east], centre[1 - east]]}
    assert [feature["properties"]["size"] for feature in document["features"]] == [12, 0]
    assert document["covey"]["epsilon"] == 1.0
    json.dumps(document)


def test_geojson_by_name_and_without_sizes():
    document = release(columns=["a", "b"], sizes=None).to_geojson(lon="b", lat="a")
    assert document["features"][0]["geometry"]["coordinates"] == [0.5, 0.25]
    assert "size" not in document["features"][0]["properties"]


def test_one_column_is_not_longitude_and_latitude():
    with pytest.raises(ParameterError, match="same column"):
        find_axes(["lon", "lat"], lon="lat")


@pytest.mark.parametrize("columns", [["a", "b"], ["lon", "b"], ["lon", "lng"], ["start_lon", "end_lon"]])
def test_geojson_without_clear_axes_is_refused(columns):
    with pytest.raises(ParameterError) as refusal:
        release(columns=columns).to_geojson()
    assert refusal.value.parameter in ("lon", "lat")


def test_numbers_that_json_cannot_hold_do_not_pass_for_numbers():
    content = release(sizes=[math.nan, 1.0]).to_json()
    with pytest.raises((FormatError, msgspec.ValidationError)):
        Release.from_json(content)


ROWS = np.random.default_rng(0).random((60, 2))


def test_a_release_that_is_not_utf8_is_a_damaged_one():
    content = fit(ROWS, k=2, epsilon=1, bounds=(0, 1)).to_json()
    with pytest.raises(FormatError):
        Release.from_json(content.replace(b"one row", b"one\xffrow"))


def test_what_earlier_centres_cost_is_said_and_damage_there_is_passed_over():
    earlier = [{"epsilon": 0.5, "delta": 0.0}, {"epsilon": None}, {}, 3, {"epsilon": 2, "delta": 1e-6}]
    told = certificate(parameters={"centres_of": earlier, "zones": [{"epsilon": "x"}]}).statement
    assert (
        "The centres were released before, with epsilon = 0.5 and 2 and delta = 1e-06, and that adds to this." in told
    )
    assert "released before" not in certificate(parameters={"centres_of": [{"epsilon": []}]}).statement

"""The files of a coreset: every round trip, readable without Covey, and what is refused."""

import json

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from covey import Certificate, Coreset, FormatError, ParameterError, Release
from covey.errors import DataError
from covey.published.coreset.files import from_json, from_parquet, to_json, to_parquet
from covey.published.release import Synopsis, WeightedPoints

KINDS = ["json", "parquet"]


def certificate(**changes):
    fields = {
        "algorithm": "made-up",
        "parameters": {"k": 3},
        "epsilon": 0.1,
        "delta": 1e-9,
        "neighbours": "add-remove",
        "person": "one row",
        "domain": {"type": "box", "lower": [-1.0, -1.0], "upper": [1.0, 1.0]},
        "seeded": False,
        "covey": "0.1.0",
        "dataset": "trips",
        "receipt": "ab",
    }
    return Certificate(**{**fields, **changes})


def coreset(*, columns=("lon", "lat"), cells=True, spreads=False, points=5, **changes):
    rng = np.random.default_rng(points)
    return Coreset(
        rng.uniform(-1, 1, (points, 2)),
        rng.laplace(1, 3, points),
        columns=columns,
        cells=rng.uniform(0, 1, (points, 2)) if cells else None,
        spreads=rng.uniform(0, 1, points) if spreads else None,
        certificate=certificate(**changes),
        objective="k-median",
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [True, False])
@pytest.mark.parametrize("columns", [("lon", "lat"), ("weight", "lat"), ("lat", "lat cell width"), ("", "é\n")])
def test_what_was_saved_is_loaded(tmp_path, kind, cells, columns):
    made = coreset(columns=columns, cells=cells)
    path = tmp_path / f"coreset.{kind}"
    made.save(path)
    again = Coreset.load(path)
    assert again == made
    assert again.origins == made.origins
    again.save(path)
    assert Coreset.load(path) == made


@given(
    hnp.arrays(np.float64, (4, 2), elements=st.floats(-1e300, 1e300)),
    hnp.arrays(np.float64, 4, elements=st.floats(-1e300, 1e300)),
)
def test_every_number_comes_back_to_the_bit(points, weights):
    made = Coreset(points, weights, columns=["x", "y"], certificate=certificate())
    for again in (from_json(to_json(made)), from_parquet(to_parquet(made))):
        assert again.points.tobytes() == made.points.tobytes()
        assert again.weights.tobytes() == made.weights.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_merged_and_a_reduced_one_come_back_too(tmp_path, kind):
    made = (coreset(points=8) + coreset(points=9, dataset="other")).reduce(6, random_state=0)
    made.save(tmp_path / f"x.{kind}")
    again = Coreset.load(tmp_path / f"x.{kind}")
    assert again == made
    assert len(again.certificate.leaves()) == 2


def test_the_content_says_what_it_is_not_the_name(tmp_path):
    made = coreset()
    (tmp_path / "a.bin").write_bytes(to_parquet(made))
    (tmp_path / "b.parquet").write_bytes(to_json(made))
    assert Coreset.load(tmp_path / "a.bin") == Coreset.load(tmp_path / "b.parquet") == made


def test_json_without_covey(tmp_path):
    made = coreset()
    made.save(tmp_path / "coreset.json")
    plain = json.loads((tmp_path / "coreset.json").read_text())
    assert plain["format"] == "covey-coreset"
    assert plain["version"] == 1
    assert plain["points"] == made.points.tolist()
    assert plain["weights"] == made.weights.tolist()
    assert plain["certificate"]["epsilon"] == 0.1
    assert plain["statement"] == made.certificate.statement


def test_parquet_without_covey(tmp_path):
    made = coreset()
    made.save(tmp_path / "coreset.parquet")
    frame = pd.read_parquet(tmp_path / "coreset.parquet")
    assert list(frame) == ["lon", "lat", "weight", "lon cell width", "lat cell width"]
    assert frame[["lon", "lat"]].to_numpy().tolist() == made.points.tolist()
    document = json.loads(pq.read_schema(tmp_path / "coreset.parquet").metadata[b"covey"])
    assert document["statement"] == made.certificate.statement
    assert document["weight_column"] == "weight"


def test_a_large_one_is_compact_as_parquet():
    side = np.arange(300) / 150 - 1
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    weights = np.random.default_rng(0).integers(-20, 20, len(points))
    cells = np.broadcast_to([1 / 150, 1 / 150], points.shape)
    made = Coreset(points, weights, columns=["x", "y"], cells=cells, certificate=certificate())
    assert len(to_parquet(made)) < 400_000  # 90,000 points: about two bytes a point
    assert from_parquet(to_parquet(made)) == made


@pytest.mark.parametrize("what", ["coreset", "synopsis"])
def test_a_release_that_holds_one_is_a_coreset_file(tmp_path, what):
    held = WeightedPoints([[0.5, 0.5]], [7.0]) if what == "coreset" else None
    synopsis = Synopsis(2, [1, -2, 3, 4]) if what == "synopsis" else None
    release = Release(
        objective="k-means",
        columns=["lon", "lat"],
        centres=[[0.0, 0.0]],
        sizes=None,
        certificate=certificate(),
        coreset=held,
        synopsis=synopsis,
    )
    release.save(tmp_path / "release.json")
    assert Coreset.load(tmp_path / "release.json") == Coreset.of(release)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_release_of_centres_says_what_would_work(tmp_path):
    release = Release(
        objective="k-means", columns=["x", "y"], centres=[[0.0, 0.0]], sizes=None, certificate=certificate()
    )
    release.save(tmp_path / "release.json")
    with pytest.raises(FormatError, match="covey coreset"):
        Coreset.load(tmp_path / "release.json")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b"{}", b'{"format": "other"}', b"PAR1", b"PAR1" + b"x" * 99],
)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(FormatError, match="coreset: "):
        Coreset.load(tmp_path / "x.json")


@pytest.mark.parametrize(
    "change",
    [
        {"points": []},
        {"points": None},
        {"points": [[0.5]]},
        {"points": [[0.5, None]]},
        {"weights": []},
        {"weights": None},
        {"weights": [None] * 5},
        {"weights": [1.0, 2.0]},
        {"cells": [[1.0, 1.0]]},
        {"columns": ["lon"]},
        {"columns": ["lon", "lon"]},
        {"certificate": {}},
        {"objective": "k-center"},
        {"statement": None},
    ],
)
def test_damaged_documents_are_refused(change):
    document = json.loads(to_json(coreset())) | change
    with pytest.raises(FormatError, match="coreset: the document is damaged"):
        from_json(json.dumps(document).encode())


@pytest.mark.parametrize("field", ["epsilon", "delta"])
def test_an_impossible_promise_is_refused(field):
    document = json.loads(to_json(coreset()))
    document["certificate"][field] = -1
    with pytest.raises(FormatError, match="no possible promise"):
        from_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"neighbours": "replace-one"},
        {"unit": "driver", "person": "all rows with the same 'driver', of which at most 1 count"},
        {"epsilon": 9.5},
        {"delta": 0.5},
    ],
)
def test_a_merge_is_of_the_type_of_its_parts_and_promises_no_more_than_they_do(change):
    document = json.loads(to_json(coreset()))
    part = document["certificate"]
    document["certificate"] = part | {"algorithm": "merge", "parameters": {"composition": "sum"}}
    document["certificate"]["parts"] = [part, part]
    assert from_json(json.dumps(document).encode()).certificate.parts
    document["certificate"]["parts"] = [part, part | change]
    with pytest.raises(FormatError, match="no possible promise"):
        from_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("unit", "person"),
    [
        ("driver", "one row"),
        ("driver", "all rows with the same 'car', same 'driver', of which at most 1 count"),
        (None, "all rows with the same 'driver', of which at most 1 count"),
    ],
)
def test_a_promise_is_to_the_people_that_its_words_name(unit, person):
    document = json.loads(to_json(coreset()))
    document["certificate"] |= {"unit": unit, "person": person}
    with pytest.raises(FormatError, match="no possible promise"):
        from_json(json.dumps(document).encode())


def test_numbers_that_are_none_are_refused():
    text = to_json(coreset(points=1, cells=False)).decode()
    for bad in ("NaN", "Infinity", "1e999"):
        weights = json.loads(text)["weights"][0]
        with pytest.raises(FormatError):
            from_json(text.replace(repr(weights), bad).encode())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_a_file_of_another_version_is_refused(tmp_path, kind, version):
    if kind == "json":
        content = json.dumps(json.loads(to_json(coreset())) | {"version": version}).encode()
    else:
        table = pq.read_table(pa.BufferReader(to_parquet(coreset())))
        document = json.loads(table.schema.metadata[b"covey"]) | {"version": version}
        sink = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata({b"covey": json.dumps(document)}), sink)
        content = sink.getvalue().to_pybytes()
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FormatError, match="reads version 1 of the format; use the Covey that wrote it"):
        Coreset.load(tmp_path / "x")


def changed_parquet(change):
    table = pq.read_table(pa.BufferReader(to_parquet(coreset())))
    metadata = table.schema.metadata
    table = change(table)
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.slice(0, 0),
        lambda table: table.drop_columns(["weight"]),
        lambda table: table.drop_columns(["lat"]),
        lambda table: table.drop_columns(["lat cell width"]),
        lambda table: table.set_column(2, "weight", pa.array(["a"] * 5)),
        lambda table: table.set_column(2, "weight", pa.array([1.0, None, 1.0, 1.0, 1.0])),
        lambda table: table.set_column(2, "weight", pa.array([np.nan] * 5)),
        lambda table: table.set_column(0, "lon", pa.array([np.inf] * 5)),
    ],
)
def test_damaged_tables_are_refused(change):
    with pytest.raises(FormatError, match="coreset: the document is damaged"):
        from_parquet(changed_parquet(change))


def test_rows_are_not_a_coreset(tmp_path):
    pd.DataFrame({"lon": [0.5], "lat": [0.5]}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(FormatError, match="not written by Covey"):
        Coreset.load(tmp_path / "rows.parquet")
    table = pa.table({"x": [1.0]}).replace_schema_metadata({b"covey": b"no json"})
    pq.write_table(table, tmp_path / "odd.parquet")
    with pytest.raises(FormatError, match="damaged"):
        Coreset.load(tmp_path / "odd.parquet")


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(FormatError, match=r"none\.json"):
        Coreset.load(tmp_path / "none.json")
    with pytest.raises(ParameterError, match=r"\.json or \.parquet"):
        coreset().save(tmp_path / "coreset.csv")
    with pytest.raises(DataError, match="nowhere"):
        coreset().save(tmp_path / "nowhere" / "coreset.json")
    assert list(tmp_path.iterdir()) == []


def test_the_document_has_one_line_for_each_point():
    lines = to_json(coreset(points=7)).decode().splitlines()
    assert sum(line.startswith(("[-", "[0")) for line in lines) >= 7
    assert msgspec.json.decode(to_json(coreset()))["cells"] is not None


# --- spreads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [("lon", "lat"), ("spread", "weight")])
def test_spreads_survive_the_file(tmp_path, kind, columns):
    made = coreset(columns=columns, cells=False, spreads=True)
    path = tmp_path / f"coreset.{kind}"
    made.save(path)
    again = Coreset.load(path)
    assert again == made
    assert again.spreads.tolist() == made.spreads.tolist()
    assert again.cost(made.points[:2]) == made.cost(made.points[:2])
    assert again != coreset(columns=columns, cells=False)


@pytest.mark.parametrize("wrong", [[1.0], [1.0, -1.0], [1.0, "x"], [1.0, None]])
def test_spreads_that_cannot_be_are_refused(wrong):
    document = json.loads(to_json(coreset(cells=False, spreads=True, points=2)))
    document["spreads"] = wrong
    with pytest.raises(FormatError, match="damaged"):
        from_json(json.dumps(document).encode())
    held = WeightedPoints([[0.5, 0.5], [0.1, 0.2]], [7.0, 1.0], spreads=wrong)
    if all(isinstance(each, float) for each in wrong):
        assert not held.fits(2)
    assert WeightedPoints([[0.5, 0.5]], [7.0], spreads=[0.1]).fits(2)


def test_a_file_without_spreads_is_read_as_before():
    document = json.loads(to_json(coreset(cells=False)))
    del document["spreads"], document["spread_column"]
    assert from_json(json.dumps(document).encode()) == coreset(cells=False)

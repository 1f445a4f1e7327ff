"""Data in several files: folders, patterns, values in the names of folders; and what makes them one table or not."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from covey import Box, Ledger
from covey.errors import DataError, NotNumericError, ParameterError
from covey.fit.fit import fit
from covey.noise.source import SeededSource
from covey.post.threads import in_order
from covey.private.narrowed.sample import SampledTable
from covey.private.tables import arrow as arrow_files
from covey.private.tables.files import open_file
from covey.private.tables.frames import open_table

SECRET = "0.123456789"
ENDINGS = ["parquet", "arrow", "feather", "csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zst", "csv.lz4"]
NAN = float("nan")


def write(path, **columns) -> str:
    """Columns as a file of the kind that its ending says."""
    table, name = pa.table(columns), path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith("parquet"):
        pq.write_table(table, path, row_group_size=3)
    elif name.endswith("arrow"):
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    elif name.endswith("feather"):
        pyarrow.feather.write_feather(table, path, compression="lz4", chunksize=3)
    else:
        text = pa.BufferOutputStream()
        pyarrow.csv.write_csv(table, text)
        path.write_bytes(compressed(text.getvalue().to_pybytes(), name))
    return str(path)


def compressed(text: bytes, name: str) -> bytes:
    ending = name.rpartition(".")[2]
    if ending in ("gz", "bz2"):
        return {"gz": gzip, "bz2": bz2}[ending].compress(text, 1)
    if ending == "xz":
        return lzma.compress(text, preset=0)
    if ending == "csv":
        return text
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, {"zst": "zstd", "lz4": "lz4"}[ending]) as file:
        file.write(text)
    return sink.getvalue().to_pybytes()


def read(path, columns=None) -> list[list[float]]:
    table = open_table(path)
    table.check_numeric(columns)
    pieces = in_order(lambda piece: piece(), table.pieces(columns))
    rows = np.concatenate(pieces, axis=1).T.tolist() if pieces else []
    assert len(rows) == table.rows()
    return rows


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_a_folder_and_a_pattern_give_the_same_rows(tmp_path, ending):
    whole = {"a": [float(i) for i in range(10)], "b": [i * 0.5 for i in range(10)]}
    expected = [list(row) for row in zip(*whole.values(), strict=True)]
    alone = write(tmp_path / f"alone.{ending}", **whole)
    for i, (first, last) in enumerate([(0, 4), (4, 4), (4, 9), (9, 10)]):  # one without rows
        part = {name: pa.array(values[first:last], pa.float64()) for name, values in whole.items()}
        write(tmp_path / "many" / f"{i}.{ending}", **part)
    many = tmp_path / "many"
    for path in (alone, many, str(many), f"{many}/", f"{many}/*.{ending}", f"{tmp_path}/m*/[0-3].*", f"{many}/**"):
        assert read(path) == expected
        assert read(path, ("b",)) == [[row[1]] for row in expected]
    assert read(f"{many}/[12].{ending}") == expected[4:9]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_later_pass_is_cut_into_the_same_pieces(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("covey.private.tables.base.PIECE_VALUES", 512)
    monkeypatch.setattr("covey.private.tables.csv.reader.BLOCK", 500)
    for i in range(3):
        write(tmp_path / f"{i}.{ending}", a=np.arange(700.0), b=np.arange(700.0) ** 2)
    table = open_table(tmp_path)
    passes = [[piece().tolist() for piece in table.pieces(("b", "a"))] for _ in range(3)]
    assert len(passes[0]) > 6
    assert passes[0] == passes[1] == passes[2]
    with_ids = [[piece()[0].tolist() for piece in table.pieces_with_ids(("b",), "a")] for _ in range(2)]
    assert with_ids[0] == with_ids[1]


def test_files_come_in_the_order_of_their_paths(tmp_path):
    for i, name in enumerate(["b/1", "a/2", "a/10", "c"]):
        write(tmp_path / f"{name}.parquet", a=[float(i)])
    assert read(tmp_path) == [[2.0], [1.0], [0.0], [3.0]]


def test_what_writers_keep_for_themselves_is_ignored(tmp_path):
    write(tmp_path / "data" / "rows.parquet", a=[1.0])
    for name in ("_SUCCESS", ".rows.parquet.crc", "_metadata", "_temporary/0/rows.parquet", ".hidden/rows.parquet"):
        place = tmp_path / "data" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"")
    assert read(tmp_path / "data") == read(f"{tmp_path}/data/**") == read(f"{tmp_path}/*/*") == [[1.0]]
    (tmp_path / "_mine").mkdir()  # what is named is meant
    assert read(write(tmp_path / "_mine" / "_rows.csv", a=[2.0])) == [[2.0]]
    assert read(write(tmp_path / ".here" / "rows.csv", a=[2.0])) == read(tmp_path / ".here") == [[2.0]]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    write(tmp_path / "rows[1].csv", a=[1.0])
    write(tmp_path / "rows1.csv", a=[2.0])
    assert read(tmp_path / "rows[1].csv") == [[1.0]]
    assert read(tmp_path / "rows?.csv") == [[2.0]]


@pytest.mark.parametrize(
    ("names", "path", "word"),
    [
        ([], "", "no data file in the folder"),
        (["_a.parquet", ".b.csv"], "", "no data file in the folder"),
        (["a.parquet"], "*.csv", "no data file that"),
        (["a.parquet", "b.csv"], "", "a Parquet file and .*b.csv' a CSV file"),
        (["a.parquet", "b/c.arrow"], "**", "a Parquet file and .*c.arrow' a Arrow file"),
        (["a.parquet", "README.md"], "", r"README.md' must end in one of .parquet, .arrow"),
        (["a.parquet", "a.csv.rar"], "", "must end in"),
    ],
)
def test_what_is_not_one_data_set_is_refused(tmp_path, names, path, word):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=word):
        open_file(f"{tmp_path}/{path}")


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_file_that_is_there_twice_is_refused(tmp_path, ending, link):
    """Everybody in it would be counted twice. Both names are told, before anything is charged."""
    write(tmp_path / "a" / f"rows.{ending}", x=[1.0])
    (tmp_path / "b").mkdir()
    link(tmp_path / "a" / f"rows.{ending}", tmp_path / "b" / f"again.{ending}")
    book = Ledger.memory(dataset="d", epsilon=1)
    for path in (tmp_path, f"{tmp_path}/*/*.{ending}", f"{tmp_path}/*"):
        with pytest.raises(DataError, match=rf"a/rows.{ending}' and '.*b/again.{ending}' are the same file"):
            fit(path, k=1, epsilon=1, bounds=Box(x=(0, 2)), ledger=book, dataset="d")
    assert book.datasets()["d"].spent.epsilon == 0
    assert read(tmp_path / "b" / f"again.{ending}") == [[1.0]], "one of them is a data set"


def test_a_folder_that_is_there_twice_is_refused(tmp_path):
    write(tmp_path / "a" / "rows.csv", x=[1.0])
    os.symlink(tmp_path / "a", tmp_path / "b")
    assert read(tmp_path) == [[1.0]], "links to folders are not followed"
    with pytest.raises(DataError, match="same file"):
        open_file(f"{tmp_path}/*/*.csv")


def test_what_cannot_be_read_twice_is_refused(tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(DataError, match=r"not an ordinary file"):
        open_file(tmp_path / "rows.csv")


# Values in the names of folders


def partitioned(folder, ending="parquet"):
    for year, month, value in [(2023, 11, 1.0), (2023, 12, 2.0), (2024, 1, 3.0)]:
        write(folder / f"year={year}" / f"month={month}" / f"rows.{ending}", a=[value, value + 0.5])
    return folder


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "csv.gz"])
def test_names_of_folders_are_columns(tmp_path, ending):
    table = open_file(partitioned(tmp_path, ending))
    assert table.names == ("a", "year", "month")
    assert table.width == 3
    expected = [[1, 2023, 11], [1.5, 2023, 11], [2, 2023, 12], [2.5, 2023, 12], [3, 2024, 1], [3.5, 2024, 1]]
    order = sorted(expected, key=lambda row: (str(row[1]), str(row[2])))
    assert read(tmp_path) == order
    assert read(tmp_path, ("month", "a")) == [[row[2], row[0]] for row in order]
    assert read(tmp_path, ("year",)) == [[row[1]] for row in order], "no column of the files themselves"
    assert read(f"{tmp_path}/year=*/month=1?/*", ("a", "month")) == [[row[0], row[2]] for row in order if row[2] > 9]
    assert open_file(tmp_path / "year=2024").names == ("a", "month")
    assert open_file(tmp_path / "year=2024" / "month=1" / f"rows.{ending}").names == ("a",)


def test_they_have_the_types_that_pyarrow_infers(tmp_path):
    for name in ("a=1/b=x%20y/c=007", "a=-2/b=3/c=__HIVE_DEFAULT_PARTITION__"):
        write(tmp_path / name / "rows.parquet", v=[1.0])
    theirs = ds.dataset(tmp_path, partitioning="hive").to_table(columns=["a", "b", "c"])
    table = open_file(tmp_path)
    assert {name: str(kind) for name, kind in table._types.items()} == {
        field.name: str(field.type) for field in theirs.schema
    }
    ours = [{name: value.as_py() for name, value in values.items()} for values in table._values]
    assert sorted(ours, key=str) == sorted(theirs.to_pylist(), key=str)
    assert sorted(map(str, read(tmp_path, ("a", "c")))) == ["[-2.0, nan]", "[1.0, 7.0]"]
    with pytest.raises(NotNumericError, match=r"'b' is not numeric .it is text, in the names of folders"):
        table.check_numeric(("b",))
    ids = [piece()[1].to_pylist() for piece in table.pieces_with_ids(("v",), "b")]
    assert sorted(ids) == [[b"3"], [b"x y"]]
    ids = [piece()[1].to_pylist() for piece in table.pieces_with_ids(("v", "a"), "c")]
    assert sorted(ids, key=str) == [[7], [None]]


def test_folders_must_agree_with_one_another_and_with_the_files(tmp_path):
    write(tmp_path / "one" / "year=2023" / "rows.parquet", a=[1.0])
    write(tmp_path / "one" / "rows.parquet", a=[1.0])
    table = open_file(tmp_path / "one")
    with pytest.raises(DataError, match=r"column 'year' is missing in the folders of .*one/rows.parquet"):
        table.check_numeric(("year",))
    write(tmp_path / "two" / "year=2023" / "rows.parquet", a=[1.0], year=[2023])
    with pytest.raises(DataError, match=r"'year' stands in the names of folders and in .*two/year=2023/rows.parquet"):
        open_file(tmp_path / "two")


# Files that differ


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_column_that_some_file_lacks_is_named_with_the_file(tmp_path, ending):
    write(tmp_path / f"1.{ending}", a=[1.0], b=[2.0])
    write(tmp_path / f"2.{ending}", c=[5.0], a=[3.0])
    table = open_file(tmp_path)
    assert table.names == ("a", "b", "c")
    for columns, missing in ((None, "c"), (("b",), "b"), (("a", "c"), "c")):
        with pytest.raises(DataError, match=f"column '{missing}' is missing in .*{1 + (missing == 'b')}.{ending}"):
            table.check_numeric(columns)
        with pytest.raises(DataError, match=r"is missing in"):
            list(table.pieces(columns))
    with pytest.raises(DataError, match=r"column 'b' is missing in"):
        table.check_person("b")
    assert read(tmp_path, ("a",)) == [[1.0], [3.0]], "what all have, in any order of columns"


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_text_in_one_file_and_numbers_in_another(tmp_path, ending):
    write(tmp_path / f"1.{ending}", a=[1.0])
    write(tmp_path / f"2.{ending}", a=[f"Quail {SECRET}"])
    with pytest.raises(NotNumericError, match=rf"'a' is not numeric \(it is (string|text) in .*2.{ending}") as refusal:
        open_file(tmp_path).check_numeric(None)
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_numbers_of_different_types_are_numbers(tmp_path, ending):
    kinds = (pa.int8(), pa.float64(), pa.decimal128(21, 2), pa.uint64(), pa.float32(), pa.bool_(), pa.null())
    for i, kind in enumerate(kinds):
        write(tmp_path / f"{i}.{ending}", a=pa.array([None if kind == pa.null() else 1]).cast(kind, safe=False))
    assert np.array_equal(read(tmp_path), [[1.0]] * 6 + [[NAN]], equal_nan=True)
    with pytest.raises(NotNumericError, match=r"'a' is not numeric .it is null"):
        open_file(tmp_path / f"6.{ending}").check_numeric(None)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_two_columns_of_one_name_are_refused_when_they_are_chosen(tmp_path, ending):
    columns = pa.table([[1.0], [2.0], [3.0]], names=["a", "b", "a"])
    if ending == "parquet":
        pq.write_table(columns, tmp_path / "rows.parquet")
    elif ending == "arrow":
        with pa.OSFile(f"{tmp_path}/rows.arrow", "wb") as file, pa.ipc.new_file(file, columns.schema) as writer:
            writer.write_table(columns)
    else:
        (tmp_path / "rows.csv").write_text("a,b,a\n1,2,3\n")
    table = open_file(tmp_path / f"rows.{ending}")
    with pytest.raises(DataError, match=r"several columns 'a'"):
        table.check_numeric(("a",))
    with pytest.raises(ParameterError, match=r"several columns 'a'"):
        table.check_person("a")
    assert read(tmp_path / f"rows.{ending}", ("b",)) == [[2.0]]


def test_a_thousand_files_open_quickly(tmp_path):
    first = write(tmp_path / "0" / "0.parquet", a=[1.0, 2.0])
    for i in range(1, 1000):
        (tmp_path / f"{i % 10}").mkdir(exist_ok=True)
        shutil.copy(first, tmp_path / f"{i % 10}" / f"{i}.parquet")
    table = open_file(tmp_path)
    assert table.rows() == 2000
    assert sum(piece().sum() for piece in table.pieces(None)) == 3000


# Large row groups and record batches are cut


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_large_parts_are_streamed(tmp_path, ending, monkeypatch):
    rows = np.random.default_rng(0).random((2, 5000))
    path, table = tmp_path / f"rows.{ending}", pa.table({"a": rows[0], "b": rows[1]})
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="lz4" if ending == "feather" else "uncompressed")
    monkeypatch.setattr(arrow_files, "MOST_BYTES", 1000)
    monkeypatch.setattr("covey.private.tables.base.PIECE_VALUES", 1024)
    pieces = [piece() for piece in open_file(path).pieces(("b", "a"))]
    assert max(piece.shape[1] for piece in pieces) <= 512
    assert np.array_equal(np.concatenate(pieces, axis=1), rows[::-1])
    assert open_file(path).rows() == 5000


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv.gz"])
def test_a_sample_of_many_files_is_the_sample_of_their_rows(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("covey.private.tables.csv.reader.BLOCK", 500)
    rows = np.random.default_rng(0).random((300, 2))
    for i, part in enumerate(np.split(rows, [50, 50, 210])):
        write(tmp_path / f"{i}.{ending}", a=part[:, 0], b=part[:, 1])
    for rate in (Fraction(1, 50), Fraction(1, 3), Fraction(99, 100)):
        samples = [
            SampledTable.poisson(of, rate=rate, source=SeededSource(2)).pieces(columns)
            for of, columns in ((open_table(tmp_path), ("a", "b")), (open_table(rows), None))
        ]
        ours, theirs = (np.concatenate([piece() for piece in pieces], axis=1) for pieces in samples)
        assert np.array_equal(ours, theirs)


def test_memory_is_bounded_by_the_piece_and_not_by_the_row_group(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_files, "MOST_BYTES", 2**20)
    monkeypatch.setattr(arrow_files, "BUFFER", 2**16)
    pq.write_table(
        pa.table({"a": np.random.default_rng(0).random(2_000_000)}), tmp_path / "rows.parquet", use_dictionary=False
    )
    assert pq.read_metadata(tmp_path / "rows.parquet").row_group(0).num_rows > 10**6
    before, most = pa.total_allocated_bytes(), 0
    for piece in open_file(tmp_path / "rows.parquet").pieces(None):
        most = max(most, pa.total_allocated_bytes() - before)
        piece()
    assert most < 2**22  # of 8 MiB


def test_row_groups_are_read_by_whoever_wants_them(tmp_path, monkeypatch):
    write(tmp_path / "rows.parquet", a=np.arange(100.0), b=np.arange(100.0))
    monkeypatch.setattr(arrow_files, "piece_rows", lambda _: 9)
    asked, read_groups = [], arrow_files.ParquetPart._read
    monkeypatch.setattr(
        arrow_files.ParquetPart, "_read", lambda self, *options: asked.append(options) or read_groups(self, *options)
    )
    table = open_file(tmp_path)
    pieces = list(table.pieces(("b",)))
    assert len(pieces) == 12  # of three row groups each
    assert not asked
    assert np.array_equal(np.concatenate([piece() for piece in pieces], axis=1)[0], np.arange(100.0))
    assert asked[0] == ([0, 1, 2], ["b"])
    asked.clear()
    assert [piece().tolist() for piece in table.chosen(("a",), iter([np.array([50, 99])]))] == [[[50.0]], [[99.0]]]
    assert len(asked) == 2, "what holds no chosen row is not read"


@pytest.mark.parametrize(
    ("read", "twice"), [(["a", "b"], False), (["a", "b", "a"], True), ([], False), (OSError("a cluster away"), True)]
)
def test_a_file_that_a_pattern_names_twice_is_known(monkeypatch, read, twice):
    """Without a cluster: a session that only tells its files. Such patterns are refused (engines/test_records.py)."""
    from covey.private.tables import spark

    def files(session, pattern):
        assert (session, pattern) == (None, "{a,b,?}")
        if isinstance(read, Exception):
            raise read
        return [(name, 100, 1) for name in read]

    monkeypatch.setattr(spark, "list_files", files)
    assert spark.counts_twice(None, "{a,b,?}") is twice

"""The one table of readers: every format by its endings, imported when it is needed; no row before a charge."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from covey import Box, File, Ledger
from covey.errors import BudgetError, CoveyError, DataError, MissingError
from covey.fit.fit import fit
from covey.private.tables import formats, text
from covey.private.tables.files import FileTable, open_file
from covey.private.tables.formats import COMPRESSED, FORMATS, format_of
from writers import CSV, DIALECTS, EVERY, LOSSY, OTHERS, write_dialect

SECRET = "0.123456789"
FILES = [*CSV, *DIALECTS, *LOSSY, "parquet", "geo-parquet", "arrow-file"]
COLUMNS = {"x": [float(i) for i in range(60)], "note": [f"{SECRET} {i}" for i in range(60)]}


def write(way: str, columns, folder: Path):
    return partial(write_dialect, way)(columns, folder) if way in LOSSY else EVERY[way](columns, folder)


def test_every_ending_has_one_format():
    endings = [ending for each in FORMATS for ending in each.endings]
    assert len(endings) == len(set(endings))
    for each in FORMATS:
        for ending in each.endings:
            assert format_of(Path(f"a.b{ending.upper()}")) is each
            assert format_of(Path("a"), ending[1:]) is each
        packed = [each.has(f"rows{each.endings[0]}{more}") for more in COMPRESSED]
        assert all(packed) if each.text else not any(packed)


def test_every_format_is_written_by_a_real_writer_in_these_tests():
    endings = [".parquet", ".arrow", *(ending for ending, *_ in (CSV | DIALECTS | LOSSY).values())]
    assert {format_of(Path(f"a{ending}")).name for ending in endings} == {each.name for each in FORMATS}
    assert set(OTHERS) <= set(EVERY)


def test_readers_and_their_libraries_are_imported_when_they_are_needed(tmp_path):
    path = EVERY["csv"](COLUMNS, tmp_path)
    script = (
        "import sys; from covey.private.tables.files import open_file; open_file(sys.argv[1]).rows();"
        "print([m for m in ('python_calamine', 'pyogrio', 'geopandas', 'polars', 'duckdb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("way", "library", "extra"), [("excel", "python_calamine", "excel"), ("geopackage", "pyogrio", "geo")]
)
def test_what_is_not_installed_is_named_before_a_charge(tmp_path, monkeypatch, way, library, extra):
    source, book = write(way, COLUMNS, tmp_path), Ledger.memory(dataset="d", epsilon=1)
    module = format_of(Path(source)).reader.partition(":")[0]
    monkeypatch.delitem(sys.modules, f"covey.private.tables.{module}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingError, match=rf"pip install 'covey\[{extra}\]'"):
        fit(source, k=2, epsilon=1, bounds=Box(x=(0, 60)), ledger=book, dataset="d")
    assert book.datasets()["d"].remaining.epsilon == 1


@pytest.mark.parametrize("way", FILES)
def test_no_row_is_read_before_the_charge(tmp_path, monkeypatch, way):
    """What cannot be paid is refused by the header alone; and when rows are read, they are paid for."""
    source, ask = write(way, COLUMNS, tmp_path), {"k": 2, "bounds": Box(x=(0, 60)), "algorithm": "lloyd"}
    book, charged = Ledger.memory(dataset="d", epsilon=1), []
    tasks = FileTable._tasks

    def watched(self, *arguments, **options):
        charged.append(book.datasets()["d"].remaining.epsilon)
        return tasks(self, *arguments, **options)

    part = type(open_file(source)._files[0].part)
    monkeypatch.setattr(FileTable, "_tasks", watched)
    monkeypatch.setattr(part, "rows", lambda *_: pytest.fail("rows were counted"))
    with monkeypatch.context() as patch:
        patch.setattr(part, "not_numbers", lambda *_: pytest.fail("cells were looked at"))
        with pytest.raises(BudgetError):
            fit(source, epsilon=2, ledger=book, dataset="d", **ask)
    assert charged == []
    fit(source, epsilon=1, ledger=book, dataset="d", **ask)
    assert charged
    assert set(charged) == {0}


@pytest.mark.parametrize("way", FILES)
def test_no_error_repeats_a_cell(tmp_path, way):
    """Damage anywhere: an error without the text of a cell, or rows."""
    source = write(way, COLUMNS, tmp_path)
    path = Path(source)
    whole = path.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 25).astype(int).tolist():
        for damaged in (whole[:place], whole[:place] + b'\xff"{' + whole[place + 3 :]):
            path.write_bytes(damaged)
            try:
                table = open_file(source)
                table.check_numeric(["x"])
                for piece in table.pieces(("x",)):
                    piece()
            except CoveyError as error:
                if not set(table_names(source)) & set(COLUMNS["note"]):  # a header line that took in a row
                    assert SECRET not in str(error), place  # noqa: PT017
                assert error.__cause__ is None  # noqa: PT017


def table_names(source) -> tuple[str, ...]:
    try:
        return open_file(source).names
    except CoveyError:
        return ()


# Zip


def save_zip(tmp_path, **members: str | bytes) -> Path:
    with zipfile.ZipFile(tmp_path / "rows.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return tmp_path / "rows.zip"


def test_a_zip_holds_one_table(tmp_path):
    text_of = "a;b\n1,5;2\n"
    assert open_file(save_zip(tmp_path, rows_csv=text_of)).names == ("a", "b")
    assert open_file(File(save_zip(tmp_path, rows_txt=text_of), decimal=",")).rows() == 1
    for members, words in (
        ({"a_csv": text_of, "b_csv": text_of}, "must hold one file, a CSV; it holds 2"),
        ({}, "it holds 0"),
        ({"a_exe": text_of}, "must end in .csv"),
        ({"a_zip": text_of}, "must end in .csv"),
    ):
        with pytest.raises(DataError, match=words):
            open_file(save_zip(tmp_path, **members))


def test_a_member_without_a_name_is_refused_like_any_damage(tmp_path):
    path = save_zip(tmp_path, rows_csv="a,b\n1,2\n")
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    content[central + 46] = 0  # the first letter of its name: nothing is left of it
    path.write_bytes(content)
    with pytest.raises(DataError):
        open_file(path)


def test_a_declared_format_is_unpacked_and_split_as_its_ending_would_be(tmp_path):
    with zipfile.ZipFile(tmp_path / "rows", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", "x,y\n1,2\n")
    for name in ("zip", ".zip", "ZIP"):
        assert open_file(File(tmp_path / "rows", format=name)).names == ("x", "y")
    (tmp_path / "rows.TSV").write_text("x, in m\ty\n1\t2\n")
    for told in ({}, {"format": "TSV"}, {"format": "tsv"}):
        assert open_file(File(tmp_path / "rows.TSV", **told)).names == ("x, in m", "y")


def test_what_is_encrypted_or_packed_strangely_is_refused(tmp_path):
    path = save_zip(tmp_path, rows_csv="a,b\n1,2\n")
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    for place, value, words in ((8, 1, "encrypted"), (10, 99, "a way that Python does not know")):
        changed = bytearray(content)
        changed[central + place] |= value
        path.write_bytes(changed)
        with pytest.raises(DataError, match=words):
            open_file(path)


def test_a_zip_bomb_takes_no_memory(tmp_path):
    """It is streamed: what comes out is bounded by nothing but time, as of any compressed file."""
    import tracemalloc

    path = save_zip(tmp_path, rows_csv=b"a,b\n" + b"1,2\n" * (60 * 2**18))
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    assert sum(1 for _ in open_file(path).pieces(("a",))) > 10
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20
    assert text.BUFFER <= 2**20


def test_the_table_says_what_each_format_can_be_told():
    options = {"delimiter", "decimal", "header_line", "encoding", "sheet", "geometry"}
    assert {name for each in FORMATS for name in each.options} == options
    assert formats.ENDINGS.startswith(".parquet, .arrow")

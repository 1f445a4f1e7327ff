"""Data files, damaged and made up, through `fit`: Parquet, CSV, Arrow, compressed or not, and folders of them."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from clean import Target, clean, leaks
from damage import texts, values, wounded, wounds
from hypothesis import strategies as st

from canary import CANARY, TEXT
from covey import Ball, Box, Ledger
from covey.fit.fit import fit
from covey.private.tables.frames import open_table
from covey.public import resolve_bounds
from writers import CSV, DIALECTS, LOSSY, write_csv

ENOUGH = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "lloyd"}


@cache
def data_files() -> dict[str, bytes]:
    """Good files with the canary in their rows, by the end of their names."""
    rows = np.random.default_rng(5).uniform(-1, 1, (60, 2))
    rows[::4] = CANARY
    table = pa.table({"x": rows[:, 0], "y": rows[:, 1], "note": [TEXT] * 60})
    lines = [f"{x},{y},{TEXT}" for x, y in rows]
    text = "\n".join(["x,y,note", *lines, ""]).encode()
    quoted = "\r\n".join(['"x","y","note"', *(f'"{x}",{y},"{TEXT}, ""so"""' for x, y in rows)]).encode()
    files = {".csv": text, "-quoted.csv": quoted, ".csv.gz": gzip.compress(text, mtime=0)}
    for name, options in {".parquet": {"compression": "none", "use_dictionary": False}, "-z.parquet": {}}.items():
        out = io.BytesIO()
        pq.write_table(table, out, **options)
        files[name] = out.getvalue()
    for name, how in {".arrow": "uncompressed", ".feather": "zstd"}.items():
        out = io.BytesIO()
        pyarrow.feather.write_feather(table, out, compression=how)
        files[name] = out.getvalue()
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return {**files, "-stream.arrow": stream.getvalue()}


def names_of(content: bytes) -> str:
    """What may be taken for names of columns, which are public: the text (no numbers) in the first lines of a CSV.

    Of a CSV without a header the first row is one, if no cell of it is a number: nobody can tell (decision 0004).
    """
    return TEXT if TEXT.encode() in b"\n".join(content[:4000].splitlines()[:3]) else ""


def fit_file(content: bytes, name: str, folder: Path, bounds: Any, *, public: str = "") -> None:
    path = folder / f"rows{name}"
    path.write_bytes(content)
    book = Ledger.memory(dataset="d", epsilon=1)
    with clean(public):
        release = fit(path, **{**ENOUGH, "bounds": bounds}, ledger=book, dataset="d")
        assert leaks(release.to_json().decode(), public=public) == []  # names of columns are public
    path.unlink()


def damaged_data(value: tuple[str, list[Any], Any], folder: Path) -> None:
    name, all_wounds, bounds = value
    content = wounded(data_files()[name], all_wounds)
    text = wounded(data_files()[".csv"], all_wounds) if name == ".csv.gz" else content
    if name == ".csv.gz" and all_wounds[0][2] % 2:  # a good archive of a damaged text
        content = gzip.compress(text, compresslevel=1, mtime=0)
    inserted = b"".join(some for _, _, _, some in all_wounds).decode(errors="replace")  # perhaps into a name
    fit_file(content, name, folder, bounds, public=names_of(text) + inserted)


def made_up_data(value: tuple[str, Any, Any], folder: Path) -> None:
    name, content, bounds = value
    raw = content if isinstance(content, bytes) else content.encode(errors="surrogatepass")
    fit_file(raw, name, folder, bounds, public=names_of(raw))


some_bounds = st.sampled_from([Box(x=(-1, 1), y=(-1, 1)), (-1, 1), Box(y=(-1, 1)), Box((-1, 1), (-1, 1), (-1, 1))])
cells = st.one_of(st.floats().map(str), texts, st.sampled_from(["", '"', '""', "nan", TEXT, str(CANARY), "1e5"]))
lines = st.lists(st.lists(cells, max_size=4).map(",".join), max_size=6).map("\n".join)
made_up_csv = st.one_of(lines, lines.map(lambda text: "x,y\n0.5,0.5\n" + text))


made_up_json = st.one_of(
    st.text('{}[]",:\\ 1.5xfeaturscodinpyl\n', max_size=80),
    st.text('{}[]",:\\ 1.5xcoordinates', max_size=60).map('{"type": "FeatureCollection", "features": ['.__add__),
    st.lists(values, max_size=4).map(lambda rows: "\n".join(json.dumps({"x": each}, default=str) for each in rows)),
)


def damaged_folder(value: tuple[str, list[Any], Any], folder: Path) -> None:
    """A folder of two files of one kind, of which one is damaged."""
    name, all_wounds, bounds = value
    home = folder / "folder"
    home.mkdir()
    (home / f"a{name}").write_bytes(data_files()[name])
    content = wounded(data_files()[name], all_wounds)
    (home / f"b{name}").write_bytes(content)
    inserted = b"".join(some for _, _, _, some in all_wounds).decode(errors="replace")
    with clean(names_of(content) + inserted):
        release = fit(home, **{**ENOUGH, "bounds": bounds})
        assert leaks(release.to_json().decode()) == []
    shutil.rmtree(home)


# --- files of other formats -------------------------------------------------------------------------------------------


OTHER = ("semicolons", "tsv", "zip", "jsonl", "geojson", "excel", "geopackage")


@cache
def other_files() -> dict[str, bytes]:
    """The same rows as other programs write them, by the end of their names."""
    rows = np.random.default_rng(5).uniform(-1, 1, (60, 2))
    rows[::4] = CANARY
    columns = {"x": rows[:, 0].tolist(), "y": rows[:, 1].tolist(), "note": [TEXT] * 60}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for way in OTHER:
            ending, write, _ = (DIALECTS | LOSSY)[way]
            write(columns, Path(folder) / f"rows{ending}")
            found[ending] = (Path(folder) / f"rows{ending}").read_bytes()
    return found


def damaged_other(value: tuple[str, list[Any], Any], folder: Path) -> None:
    """Names of columns are public, and damage may make one of a text: of numbers, nothing may leave."""
    name, all_wounds, bounds = value
    inserted = b"".join(some for _, _, _, some in all_wounds).decode(errors="replace")
    fit_file(wounded(other_files()[name], all_wounds), name, folder, bounds, public=TEXT + inserted)


def made_up_other(value: tuple[str, Any], folder: Path) -> None:
    name, content = value
    raw = content if isinstance(content, bytes) else content.encode(errors="surrogatepass")
    fit_file(raw, name, folder, (-1, 1), public=TEXT + raw.decode(errors="replace"))


# --- records ----------------------------------------------------------------------------------------------------------


def hostile_records(value: tuple[str, list[str], list[list[str | None]]], folder: Path) -> None:
    """Whatever the names and values, by a real writer: the same names, ids to the byte, a row for each record."""
    writer, called, records = value
    columns = {"x": [float(i) for i in range(len(records))]}
    columns |= {name: [each[i] for each in records] for i, name in enumerate(called)}
    path = write_csv(writer, columns, folder)
    with clean("".join(called)):
        table = open_table(path)
        assert table.names == ("x", *called)
        assert table.rows() == len(records)
        assert [x for piece in table.pieces(("x",)) for x in piece()[0].tolist()] == columns["x"]
        for i, name in enumerate(called):
            ids = [cell or None for piece in table.pieces_with_ids(("x",), name) for cell in piece()[1].to_pylist()]
            assert ids == [None if not each[i] else each[i].encode() for each in records]
    path.unlink()


nasty = st.one_of(
    st.text('"",\n\r\0 x1.5\ufeff\\;', max_size=12),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["", "\n" * 50, '"' * 51, '",\n"', "\r\n", "\r", "x" * 5000, "NA", "7", "\ufeff"]),
)
tables = st.tuples(
    st.sampled_from(sorted(CSV)),
    st.lists(
        nasty.filter(lambda name: name not in ("x", "") and not name.endswith("\r")),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    st.lists(st.lists(st.one_of(st.none(), nasty), min_size=3, max_size=3), max_size=6),
)


# --- bounds -----------------------------------------------------------------------------------------------------------

plain = st.tuples(st.floats(-1e3, 0), st.floats(0.001, 1e3))
ends = st.one_of(plain, plain, values, st.tuples(values, values), st.lists(values, max_size=3))
domains = st.one_of(
    values,
    st.tuples(ends, ends),
    plain,
    st.tuples(st.just("box"), st.lists(ends, max_size=4)),
    st.tuples(st.just("names"), st.dictionaries(st.one_of(st.sampled_from(["x", "y"]), texts), ends, max_size=3)),
    st.tuples(st.just("ball"), st.one_of(st.floats(1e-9, 1e9), values), st.one_of(st.none(), plain, values)),
)


def strange_bounds(value: Any, _: Path) -> None:
    with clean(public=repr(value)):
        bounds = value
        if isinstance(value, tuple) and value[0] == "box":
            bounds = Box(*value[1])
        elif isinstance(value, tuple) and value[0] == "names":
            bounds = Box.of(value[1])
        elif isinstance(value, tuple) and value[0] == "ball":
            bounds = Ball(value[1], center=value[2])
        domain = resolve_bounds(bounds, names=("x", "y"), width=2)
        repr(domain), domain.describe()
        fit(np.array([[CANARY, 0.5]] * 5), **{**ENOUGH, "bounds": bounds})


FOLDERS = (".csv", ".parquet", ".arrow", ".csv.gz")
names = st.sampled_from(sorted(data_files()))
whole = (".csv", [], Box(x=(-1, 1), y=(-1, 1)))
TARGETS = {
    "damaged data files": Target(st.tuples(names, wounds, some_bounds), damaged_data, whole, weight=6),
    "made-up data files": Target(
        st.tuples(names, st.one_of(made_up_csv, st.binary(max_size=200)), some_bounds),
        made_up_data,
        (".csv", "x,y\n0.5,0.5\n", (-1, 1)),
        weight=3,
    ),
    "folders with a damaged file": Target(
        st.tuples(st.sampled_from(FOLDERS), wounds, some_bounds), damaged_folder, whole, weight=1
    ),
    "damaged files of other formats": Target(
        st.tuples(st.sampled_from(sorted(other_files())), wounds, some_bounds),
        damaged_other,
        (".jsonl", [], Box(x=(-1, 1), y=(-1, 1))),
        weight=4,
    ),
    "made-up files of other formats": Target(
        st.tuples(
            st.sampled_from(sorted(other_files())), st.one_of(made_up_json, made_up_csv, st.binary(max_size=200))
        ),
        made_up_other,
        (".jsonl", '{"x": 0.5}'),
        weight=2,
    ),
    "records": Target(tables, hostile_records, ("csv", ["a\nb"], [['"\n', "", None]]), weight=4),
    "bounds": Target(domains, strange_bounds, ("box", [(-1.0, 1.0), (0.0, 1.0)]), weight=3),
}

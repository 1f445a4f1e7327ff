"""Tables as real writers make them. A table is columns by name: of numbers or of texts, in which None is missing."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import warnings
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import geopandas as gpd
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import shapely

from covey import File

Columns = dict[str, list[Any]]


def numeric(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(each, float | None) for each in values) and set(values) != {None}


def as_pandas(columns: Columns) -> pd.DataFrame:
    kinds = {name: float if numeric(values) else object for name, values in columns.items()}
    return pd.DataFrame({name: pd.Series(values, dtype=kinds[name]) for name, values in columns.items()})


def as_polars(columns: Columns) -> pl.DataFrame:
    kinds = {name: pl.Float64 if numeric(values) else pl.String for name, values in columns.items()}
    return pl.DataFrame(columns, schema=kinds)


def as_arrow(columns: Columns) -> pa.Table:
    kinds = {name: pa.float64() if numeric(values) else pa.string() for name, values in columns.items()}
    return pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})


def python_csv(columns: Columns, path: Path, **options: Any) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, **options)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    path.write_bytes(out.getvalue().encode(errors="surrogateescape"))


def with_mark(columns: Columns, path: Path) -> None:
    python_csv(columns, path)
    path.write_bytes("\ufeff".encode() + path.read_bytes())


def without_last_newline(columns: Columns, path: Path) -> None:
    python_csv(columns, path, quoting=csv.QUOTE_ALL)
    path.write_bytes(path.read_bytes().removesuffix(b"\r\n"))


def pandas_csv(columns: Columns, path: Path, **options: Any) -> None:
    as_pandas(columns).to_csv(path, index=False, errors="surrogateescape", **options)


def polars_csv(columns: Columns, path: Path, **options: Any) -> None:
    as_polars(columns).write_csv(path, **options)


def arrow_csv(columns: Columns, path: Path) -> None:
    pyarrow.csv.write_csv(as_arrow(columns), path)


def zipped(columns: Columns, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        python_csv(columns, path.with_suffix(".csv"))
        archive.write(path.with_suffix(".csv"), "folder/rows.csv")
        archive.writestr("__MACOSX/folder/._rows.csv", b"what macOS adds")


def json_lines(columns: Columns, path: Path) -> None:
    """As Python writes them, NaN and all."""
    records = (dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True))
    path.write_text("".join(json.dumps(each) + "\n" for each in records))


def pandas_lines(columns: Columns, path: Path) -> None:
    as_pandas(columns).to_json(path, orient="records", lines=True)


def polars_lines(columns: Columns, path: Path) -> None:
    out = io.BytesIO()
    as_polars(columns).write_ndjson(out)
    path.write_bytes(gzip.compress(out.getvalue()))


def openpyxl_book(columns: Columns, path: Path) -> None:
    """A title above the header, a second sheet, and a style in every row."""
    book = openpyxl.Workbook()
    book.active.append(["another sheet"])
    sheet = book.create_sheet("Tabelle & 1")
    sheet.append(["Trips of the city"])
    sheet.append([])
    sheet.append(list(columns))
    for number, row in enumerate(zip(*columns.values(), strict=True), 4):
        for place, value in enumerate(row, 1):
            sheet.cell(number, place, value).font = openpyxl.styles.Font(bold=True)
    book.save(path)


def geojson(columns: Columns, path: Path, **options: Any) -> None:
    """The first column is the longitude, if it has a value; the others, and it, are properties."""
    features = [
        {
            "type": "Feature",
            "properties": dict(zip(columns, each, strict=True)),
            "geometry": None if each[0] is None else {"type": "Point", "coordinates": [each[0], 0.5]},
        }
        for each in zip(*columns.values(), strict=True)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "name": "a [", "features": features}, **options))


def as_places(columns: Columns) -> gpd.GeoDataFrame:
    """The first column is the longitude, if it has a value, and a column as well."""
    places = [None if each is None else shapely.Point(each, 0.5) for each in next(iter(columns.values()))]
    return gpd.GeoDataFrame(as_pandas(columns), geometry=places, crs=4326)


def layer(columns: Columns, path: Path, driver: str) -> None:
    for old in path.parent.glob(f"{path.stem}.*"):
        old.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of texts too long for a shapefile
        as_places(columns).to_file(path, driver=driver, engine="pyogrio")


def geo_parquet(columns: Columns, folder: Path) -> Path:
    as_places(columns).to_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def compressed(pack: Callable[[bytes], bytes], columns: Columns, path: Path) -> None:
    python_csv(columns, path)
    path.write_bytes(pack(path.read_bytes()))


def packed_by_arrow(codec: str, text: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as out:
        out.write(text)
    return sink.getvalue().to_pybytes()


def recoded(encoding: str, write: Callable[[Columns, Path], None], columns: Columns, path: Path) -> None:
    """What a writer of UTF-8 writes, in another encoding: as Excel saves "Unicode text"."""
    write(columns, path)
    path.write_bytes(path.read_bytes().decode().encode(encoding))


def below_a_title(write: Callable[[Columns, Path], None], columns: Columns, path: Path) -> None:
    write(columns, path)
    path.write_bytes(b'Trips, of "the" city\n\n' + b"x" * 200_000 + b'"\n' + path.read_bytes())


CSV: dict[str, tuple[str, Callable[[Columns, Path], None]]] = {  # the end of the file's name, and who writes it
    "csv": (".csv", python_csv),
    "csv-all": (".csv", partial(python_csv, quoting=csv.QUOTE_ALL, lineterminator="\n")),
    "csv-nonnumeric": (".csv", partial(python_csv, quoting=csv.QUOTE_NONNUMERIC)),
    "csv-newline": (".csv", partial(python_csv, lineterminator="\n")),
    "csv-mark": (".csv", with_mark),
    "csv-open-end": (".csv", without_last_newline),
    "pandas": (".csv", pandas_csv),
    "pandas-all": (".csv", partial(pandas_csv, quoting=csv.QUOTE_ALL)),
    "pandas-windows": (".csv", partial(pandas_csv, lineterminator="\r\n")),
    "polars": (".csv", polars_csv),
    "polars-windows": (".csv", partial(polars_csv, line_terminator="\r\n")),
    "polars-all": (".csv", partial(polars_csv, quote_style="always")),
    "arrow": (".csv", arrow_csv),
    "gzip": (".csv.gz", partial(compressed, gzip.compress)),
    "bz2": (".csv.bz2", partial(compressed, bz2.compress)),
    "xz": (".csv.xz", partial(compressed, lzma.compress)),
    "zstd": (".csv.zst", partial(compressed, partial(packed_by_arrow, "zstd"))),
    "lz4": (".csv.lz4", partial(compressed, partial(packed_by_arrow, "lz4"))),
}
BYTES = ("csv", "csv-all", "csv-nonnumeric", "csv-newline", "csv-mark", "pandas", "pandas-all")  # write any bytes


def write_csv(writer: str, columns: Columns, folder: Path) -> Path:
    ending, write = CSV[writer]
    path = folder / f"rows{ending}"
    write(columns, path)
    return path


DIALECTS: dict[str, tuple[str, Callable[[Columns, Path], None], dict[str, Any]]] = {  # and what a reader is told
    "semicolons": (".csv", partial(python_csv, delimiter=";"), {}),
    "tabs": (".csv", partial(python_csv, dialect="excel-tab"), {}),
    "bars": (".csv", partial(polars_csv, separator="|"), {}),
    "decimal-commas": (".csv", partial(pandas_csv, sep=";", decimal=","), {"decimal": ","}),
    "carets": (".csv", partial(pandas_csv, sep="^", decimal=","), {"delimiter": "^", "decimal": ","}),
    "utf-16": (".csv", partial(recoded, "utf-16", partial(python_csv, delimiter="\t")), {"encoding": "utf-16"}),
    "utf-16-be": (".csv", partial(recoded, "utf-16-be", python_csv), {"encoding": "utf-16-be"}),
    "title": (".csv", partial(below_a_title, python_csv), {"header_line": 4}),
    "tsv": (".tsv", partial(python_csv, dialect="excel-tab"), {}),
    "txt": (".txt", partial(python_csv, delimiter=";"), {}),
    "zip": (".zip", zipped, {}),
    "jsonl": (".jsonl", json_lines, {}),
    "jsonl-pandas": (".ndjson", pandas_lines, {}),
    "jsonl-polars": (".jsonl.gz", polars_lines, {}),
    "geojson": (".geojson", geojson, {}),
    "geojson-indented": (".json", partial(geojson, indent=2), {}),
}

LOSSY: dict[str, tuple[str, Callable[[Columns, Path], None], dict[str, Any]]] = {  # do not keep every text as it is
    "excel": (".xlsx", lambda columns, path: as_pandas(columns).to_excel(path, index=False), {}),
    "openpyxl": (".xlsx", openpyxl_book, {"header_line": 3, "sheet": "Tabelle & 1"}),
    "geopackage": (".gpkg", partial(layer, driver="GPKG"), {}),
    "shapefile": (".shp", partial(layer, driver="ESRI Shapefile"), {}),
    "geojson-gdal": (".geojson", partial(layer, driver="GeoJSON"), {}),
}


def write_dialect(writer: str, columns: Columns, folder: Path) -> File:
    ending, write, told = (DIALECTS | LOSSY)[writer]
    path = folder / f"rows{ending}"
    write(columns, path)
    return File(path, **told)


def parquet_file(columns: Columns, folder: Path) -> Path:
    pq.write_table(as_arrow(columns), folder / "rows.parquet", row_group_size=2)
    return folder / "rows.parquet"


def arrow_file(columns: Columns, folder: Path) -> Path:
    pyarrow.feather.write_feather(as_arrow(columns), folder / "rows.arrow", chunksize=2)
    return folder / "rows.arrow"


OTHERS: dict[str, Callable[[Columns, Path], Any]] = {
    "parquet": parquet_file,
    "geo-parquet": geo_parquet,
    "arrow-file": arrow_file,
    "pandas-frame": lambda columns, _: as_pandas(columns),
    "polars-frame": lambda columns, _: as_polars(columns),
    "arrow-table": lambda columns, _: as_arrow(columns),
    "arrow-stream": lambda columns, _: as_arrow(columns).to_reader(max_chunksize=2),
    "lazy-frame": lambda columns, _: as_polars(columns).lazy(),
    "duckdb": lambda columns, _: duckdb.connect().from_arrow(as_arrow(columns)),
    "geo-frame": lambda columns, _: as_places(columns),
}
EVERY: dict[str, Callable[[Columns, Path], Any]] = {
    **{name: partial(write_csv, name) for name in CSV},
    **{name: partial(write_dialect, name) for name in DIALECTS},
    **OTHERS,
}

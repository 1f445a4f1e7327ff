"""The files of a coreset: JSON, and Parquet for large ones. docs/reference/release-format.md describes both."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from covey.errors import FormatError, ParameterError
from covey.files import write_whole
from covey.geo.geojson import feature_collection, find_axes
from covey.published.certificate import Certificate, is_possible
from covey.published.coreset.coreset import Coreset
from covey.published.errors import BoxNoise
from covey.published.release import FORMAT as RELEASE
from covey.published.release import Release
from covey.text import free_name, own_names

FORMAT, VERSION = "covey-coreset", 1
PARQUET = b"PAR1"  # how a Parquet file begins
KEY = b"covey"  # of the document in the metadata of a Parquet file


class CoresetDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The document of a coreset. In a Parquet file points, weights, cells and spreads are columns, and null here."""

    format: str
    version: int
    objective: str
    columns: list[str]
    certificate: Certificate
    statement: str
    origins: list[str]
    weight_column: str | None = None
    cell_columns: list[str] | None = None
    spread_column: str | None = None
    points: list[list[float]] | None = None
    weights: list[float] | None = None
    cells: list[list[float]] | None = None
    noise: BoxNoise | None = None
    spreads: list[float] | None = None


def save(coreset: Coreset, path: str | os.PathLike[str]) -> None:
    """Write a file whose kind its name says: .json or .parquet."""
    suffix = check_suffix(path)
    write_whole(path, to_json(coreset) if suffix == ".json" else to_parquet(coreset))


def check_suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".json", ".parquet"):
        raise ParameterError("path", f"{str(path)!r} must end in .json or .parquet: the kind of file to write")
    return suffix


def load(path: str | os.PathLike[str]) -> Coreset:
    """Read a coreset, or a release that holds one; its content says which, not its name."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"coreset: cannot read {str(path)!r}: {error.strerror}") from None
    return from_parquet(content) if content[:4] == PARQUET else from_json(content)


def to_json(coreset: Coreset) -> bytes:
    """One document in UTF-8: the certificate in lines for people, one line for each point."""
    document = _document(
        coreset,
        points=coreset.points.tolist(),
        weights=coreset.weights.tolist(),
        cells=None if coreset.cells is None else coreset.cells.tolist(),
        spreads=None if coreset.spreads is None else coreset.spreads.tolist(),
    )
    fields = []
    for field in msgspec.structs.fields(CoresetDocument):
        value = getattr(document, field.name)
        text = msgspec.json.encode(value)
        if field.name in ("points", "cells") and value is not None:
            text = b"[\n" + b",\n".join(map(msgspec.json.encode, value)) + b"\n]"
        elif field.name == "certificate":
            text = msgspec.json.format(text, indent=2)
        fields.append(msgspec.json.encode(field.encode_name) + b": " + text)
    return b"{\n" + b",\n".join(fields) + b"\n}\n"


def from_json(content: bytes) -> Coreset:
    """The coreset in a JSON document; anything else is refused with what is wrong and what would work."""
    try:
        head = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FormatError("coreset: neither a JSON document of Covey nor a Parquet file") from None
    if head.get("format") == RELEASE:
        release = Release.from_json(content)
        if release.coreset is None and release.synopsis is None:
            raise FormatError(
                "coreset: this release holds centres only; `covey coreset` makes a coreset, and so does "
                "`covey fit --algorithm grid --param keep_synopsis=true`"
            )
        return Coreset.of(release)
    document = _checked(head)
    if document.points is None or document.weights is None:
        raise FormatError("coreset: the document is damaged: it has no points or no weights")
    arrays = {name: getattr(document, name) for name in ("points", "weights", "cells", "spreads")}
    return _coreset(document, **arrays)


def document_of(content: bytes) -> dict[str, Any]:
    """The document in a file, or in the metadata of a Parquet file; raises a ValueError where there is none."""
    metadata = _parquet(content).schema_arrow.metadata or {} if content[:4] == PARQUET else {KEY: content}
    return msgspec.json.decode(metadata.get(KEY, b""), type=dict[str, Any])


def is_file_of(coreset: Coreset, content: bytes) -> bool:
    """Whether a file holds this coreset and nothing else: as JSON the same bytes, as Parquet the same whole table."""
    if content[:4] != PARQUET:
        return content == to_json(coreset)
    own, found = (_parquet(each) for each in (to_parquet(coreset), content))
    same = own.schema_arrow.equals(found.schema_arrow, check_metadata=True)
    return same and bool(own.read().equals(found.read()))


def to_parquet(coreset: Coreset) -> bytes:
    """A table with the columns of the data, the weight, cell widths and spread, and the document as metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    weight = free_name("weight", coreset.columns)
    widths = None
    if coreset.cells is not None:
        widths = [free_name(f"{name} cell width", [*coreset.columns, weight]) for name in coreset.columns]
    names = [*coreset.columns, weight, *(widths or ())]
    arrays = [*coreset.points.T, coreset.weights, *(() if coreset.cells is None else coreset.cells.T)]
    spread = None
    if coreset.spreads is not None:
        spread = free_name("spread", names)
        names.append(spread)
        arrays.append(coreset.spreads)
    document = _document(coreset, weight_column=weight, cell_columns=widths, spread_column=spread)
    table = pa.table([np.ascontiguousarray(each) for each in arrays], names=names).replace_schema_metadata(
        {KEY: msgspec.json.encode(document)}
    )
    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd")
    return content.getvalue()


def from_parquet(content: bytes) -> Coreset:
    """The coreset in a Parquet file that Covey wrote."""
    import pyarrow as pa

    file = _parquet(content)
    metadata = file.schema_arrow.metadata or {}
    if KEY not in metadata:
        raise FormatError("coreset: this Parquet file was not written by Covey; `covey coreset` makes one from rows")
    try:
        document = _checked(msgspec.json.decode(metadata[KEY], type=dict[str, Any]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FormatError("coreset: the document is damaged: its metadata is no JSON") from None
    if document.weight_column is None:
        raise FormatError("coreset: the document is damaged: it does not name the weights")
    spread = None if document.spread_column is None else [document.spread_column]
    groups = (document.columns, [document.weight_column], document.cell_columns, spread)
    try:
        table = file.read()
        points, weights, cells, spreads = (
            None if names is None else np.column_stack([_numbers(table.column(name)) for name in names])
            for names in groups
        )
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        raise FormatError("coreset: the document is damaged: columns are missing or are not numbers") from None
    flat = None if spreads is None else np.ravel(spreads)
    return _coreset(document, points=points, weights=np.ravel(weights), cells=cells, spreads=flat)  # type: ignore[arg-type]


def to_geojson(coreset: Coreset, *, lon: str | None, lat: str | None) -> dict[str, Any]:
    """The points with their weights as GeoJSON."""
    east, north = find_axes(coreset.columns, lon, lat)
    names = own_names(coreset.columns, ("weight", "negative"))
    properties = [
        {"weight": weight, "negative": weight < 0} | dict(zip(names, point, strict=True))
        for point, weight in zip(coreset.points.tolist(), coreset.weights.tolist(), strict=True)
    ]
    document = feature_collection([(x, y) for x, y in coreset.points[:, [east, north]].tolist()], properties)
    return document | {"covey": {"epsilon": coreset.certificate.epsilon, "statement": coreset.certificate.statement}}


def _parquet(content: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        file.schema_arrow  # noqa: B018 - raises where the schema is damaged
    except (pa.ArrowException, OSError):
        raise FormatError("coreset: the Parquet file is damaged") from None
    return file


def _numbers(column: Any) -> Any:
    values = column.to_numpy()
    if values.dtype.kind not in "fiu":
        raise TypeError
    return values.astype(np.float64)


def _document(coreset: Coreset, **arrays: Any) -> CoresetDocument:
    return CoresetDocument(
        format=FORMAT,
        version=VERSION,
        objective=coreset.objective,
        columns=coreset.columns,
        certificate=coreset.certificate,
        statement=coreset.certificate.statement,
        origins=list(coreset.origins),
        noise=coreset.noise,
        **arrays,
    )


def _checked(head: dict[str, Any]) -> CoresetDocument:
    if head.get("format") != FORMAT:
        raise FormatError(f"coreset: not a Covey coreset (its format is not {FORMAT!r})")
    if head.get("version") != VERSION:
        raise FormatError(f"coreset: this Covey reads version {VERSION} of the format; use the Covey that wrote it")
    try:
        document = msgspec.convert(head, type=CoresetDocument)
    except msgspec.ValidationError as error:
        raise FormatError(f"coreset: the document is damaged: {error}") from None
    if not is_possible(document.certificate, len(document.columns)):
        raise FormatError("coreset: the document is damaged: the certificate holds no possible promise")
    return document


def _coreset(document: CoresetDocument, **arrays: Any) -> Coreset:
    try:
        return Coreset(
            **arrays,
            columns=document.columns,
            certificate=document.certificate,
            objective=document.objective,
            noise=document.noise,
            origins=document.origins or None,
        )
    except ParameterError as error:  # an empty one, numbers that are not finite, lists that do not match
        raise FormatError(f"coreset: the document is damaged: {error}") from None

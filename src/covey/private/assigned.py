"""The nearest published centre of each row, for the owner of the rows: no noise and no charge, because nothing of it is
released. What comes of it is as private as the rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from covey.private.lattice import to_lattice
from covey.private.tables.base import Table
from covey.private.tables.files import FileTable
from covey.public import Domain
from covey.queries.voronoi import nearest
from covey.text import free_name

Labels = NDArray[np.intp]


def labels(table: Table, columns: Sequence[str] | None, domain: Domain, centres: Any) -> Labels:
    """The number of the nearest centre of every row, on the lattice of the fit: what the fit would count it to."""
    places = domain.snap(domain.to_lattice(centres))
    found = [nearest(to_lattice(read(), domain), places) for read in table.pieces(columns)]
    return np.concatenate(found) if found else np.empty(0, dtype=np.intp)


def write_assigned(table: FileTable, columns: Sequence[str], domain: Domain, centres: Any, file: IO[bytes]) -> None:
    """Every row with all its columns and the number of its centre as CSV, piece by piece.

    A row in which a number is missing has no centre: it is nowhere.
    """
    places, name = domain.snap(domain.to_lattice(centres)), free_name("centre", table.names)
    kinds = [(each, pa.float64() if each in columns else pa.string()) for each in table.shared]
    schema = pa.schema([*kinds, (name, pa.int64())])
    with csv.CSVWriter(file, schema) as writer:
        for numbers, whole in table.whole(columns):
            nowhere = np.isnan(numbers).any(axis=0)
            found = pa.array(nearest(to_lattice(numbers, domain), places), pa.int64(), mask=nowhere)
            known = dict(zip(columns, (pa.array(each, from_pandas=True) for each in numbers), strict=True))
            cells = [known[each] if each in known else _as_text(whole[each]) for each in table.shared]
            writer.write_table(pa.Table.from_arrays([*cells, found], schema=schema))


def _as_text(cells: Any) -> Any:
    """Cells of any type as text; bytes that are none, and lists, as Python writes them."""
    try:
        return cells.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array(list(_texts(cells)), pa.string())


def _texts(cells: Any) -> Iterator[str | None]:
    for cell in cells.to_pylist():
        yield cell.decode(errors="replace") if isinstance(cell, bytes) else None if cell is None else str(cell)

"""What a node does at home: it thins its own rows by its own zones, before anything is sent (docs/guide/zones.md)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.checks import amount
from covey.errors import DataError, ParameterError
from covey.fit.zones import Thinning, Zones, read_zones
from covey.geo.areas import WORLD
from covey.geo.geojson import find_axes
from covey.noise.source import OsSource, Source
from covey.private.engines.base import Sealed
from covey.private.lattice import to_block
from covey.private.narrowed.zones import ALWAYS
from covey.private.tables.base import Table
from covey.private.tables.formats import as_file
from covey.private.tables.frames import ArrayTable, FrameTable, open_table
from covey.private.tables.gpx import track_to_csv
from covey.private.tables.kept import some_rows
from covey.public import Box, resolve_bounds

CONVERTED = {".gpx": track_to_csv}


def thin(points: Any, zones: Any, *, epsilon: float, bounds: Any = None) -> Any:
    """The rows that a node may send on: those in its own zones are kept by coins, all others always.

    points : rows x (longitude, latitude) as an array, or a table with such columns. zones : as in `KMeans`; they are
    the node's own secret, and are neither sent nor written anywhere. epsilon : that of all releases which the rows are
    sent for, together. bounds : the limits of longitude and latitude, all of the world by default; for other columns
    or units, a Box. A row beyond them, or without a value, has no place and is not sent.

    Guarantee: if all that is later published from rows of all nodes is (epsilon, delta)-DP under add/remove of a row, a
    row in a zone of epsilon_zone enjoys (epsilon_zone, q·delta), q = (e^epsilon_zone - 1)/(e^epsilon - 1). Whoever
    receives the kept rows sees them as they are, with what a table says of itself (attributes, metadata). Coins come
    from the operating system, anew for every call: thin each row once. What another epsilon of the releases gives,
    `Share.promised` says. Proof: private/narrowed/zones.md.
    """
    if isinstance(points, str | os.PathLike):
        raise DataError("points: are rows in memory; for a file there is the command covey thin")
    table = open_table(points)
    if not isinstance(table, ArrayTable | FrameTable):  # run again, a query may give rows that no coin was thrown for
        raise DataError("points: are rows in memory; collect the query or stream into a table first")
    if bounds is None:
        names = table.names
        east, north = (0, 1) if names is None else find_axes(names)
        bounds = _world(None if names is None else (names[east], names[north]))
    keep = _throw(table, _thinning(table, zones, epsilon=epsilon, bounds=bounds), OsSource()).sent
    return some_rows(points, keep)


@dataclass(frozen=True)
class Share:
    """The zones that have one epsilon, and what their coins did: for the person whose zones they are."""

    names: tuple[str, ...]
    epsilon: Fraction
    words: int  # of 2^64 that keep a row
    rows: int
    sent: int

    def promised(self, epsilon: float) -> float:
        """The epsilon of a row in these zones if that of all releases together is `epsilon`: ln(1 + q(e^epsilon - 1)).

        It is not proportional: the coins are thrown once, so that several releases add up before it is taken.
        """
        rate = self.words / ALWAYS
        return math.log1p(rate * math.expm1(epsilon)) if epsilon < 700 else epsilon + math.log(rate)


@dataclass(frozen=True, repr=False)
class Upload(Sealed):
    """A CSV file for the collector, and what its sender may know: how many rows there were, and which stay."""

    content: bytes
    rows: int
    sent: int
    unplaced: int
    shares: tuple[Share, ...]
    empty: tuple[str, ...]  # zones that no row lies in


def thin_file(
    path: str | os.PathLike[str], zones: Any, *, epsilon: float, lon: str | None = None, lat: str | None = None
) -> Upload:
    """`thin` for a file: CSV, Parquet, Arrow, GeoJSON points or a GPX track. Rows are sent whole, of a CSV to the byte.

    A row without a number for its longitude or latitude, or with one that is not on the map, stays at home.
    """
    from covey.private.tables.files import open_file

    source = as_file(path)
    with _as_table(Path(source.path)) as file:
        table = open_file(replace(source, path=file))
        if file.is_dir() or not file.exists():  # a pattern
            raise DataError("data: a track is one file; thin each of them once")
        east, north = (table.names[place] for place in find_axes(table.names, lon, lat))
        known = Zones.read(zones, lon=east, lat=north)
        thinning = _thinning(table, known, epsilon=epsilon, bounds=_world((east, north)))
        thrown = _throw(table, thinning, OsSource())
        content, empty = table.some(thrown.sent), _empty_zones(table, thinning)
    shares = tuple(_shares(thinning, thrown))
    return Upload(content, len(thrown.sent), int(thrown.sent.sum()), thrown.unplaced, shares, empty)


@contextmanager
def _as_table(path: Path) -> Iterator[Path]:
    """A file that tables are read from: the path itself, or for as long as it is needed a copy as CSV."""
    convert = CONVERTED.get(path.suffix.lower())
    if convert is None or not path.is_file():
        yield path
        return
    with TemporaryDirectory(prefix="covey-") as folder:
        target = Path(folder, "track.csv")
        convert(path, target)
        yield target


def _world(columns: tuple[str, str] | None) -> Box:
    (east, north) = WORLD
    ranges = ((-east, east), (-north, north))
    return Box(*ranges) if columns is None else Box.of(dict(zip(columns, ranges, strict=True)))


def _thinning(table: Table, zones: Any, *, epsilon: float, bounds: Any) -> Thinning:
    domain = resolve_bounds(bounds, names=table.names, width=table.width)
    table.check_numeric(domain.columns if table.names is not None else None)
    thinning = read_zones(zones, epsilon=amount("epsilon", epsilon), domain=domain, everywhere=True)
    if thinning is None:
        raise ParameterError("zones", "must be given; without zones there is nothing to thin")
    return thinning


@dataclass(frozen=True, eq=False, repr=False)
class Thrown(Sealed):
    """One coin for every row: the number of its zone (`Regions.index`), and whether it is sent."""

    zone: NDArray[np.uint8]
    sent: NDArray[np.bool_]
    unplaced: int


def _throw(table: Table, thinning: Thinning, source: Source) -> Thrown:
    """A word of 64 bits for each row, from the source itself; rows that are nowhere on the map are not sent."""
    last = np.array([each - 1 for each in thinning.coins.keeping], dtype=np.uint64)
    zones, sent, unplaced = [np.empty(0, dtype=np.uint8)], [np.empty(0, dtype=np.bool_)], 0
    for piece in table.pieces(thinning.domain.columns if table.names is not None else None):
        block = to_block(piece(), thinning.domain)
        zones.append(np.where(block.outside, np.uint8(0), thinning.regions.index(block.rows)))
        words = source.words(len(block.outside), np.uint64)
        sent.append((words <= last[zones[-1]]) & ~block.outside)
        unplaced += int(block.outside.sum())
    return Thrown(np.concatenate(zones), np.concatenate(sent), unplaced)


def _empty_zones(table: Table, thinning: Thinning) -> tuple[str, ...]:
    """The names of zones that no row lies in, even where a stricter zone counts instead."""
    known = thinning.zones
    left = [(each.name, Zones((each,), known.lon, known.lat).on(thinning.domain)) for each in known.zones]
    for piece in table.pieces(thinning.domain.columns):
        if not left:
            break
        block = to_block(piece(), thinning.domain)
        rows = block.at(~block.outside).rows
        left = [(name, alone) for name, alone in left if not alone.index(rows).any()]
    return tuple(name for name, _ in left)


def _shares(thinning: Thinning, thrown: Thrown) -> Iterator[Share]:
    for number, area in enumerate(thinning.regions.areas, start=1):
        inside = thrown.zone == number
        names = tuple(each.name for each in thinning.zones.zones if each.epsilon == area.epsilon)
        words = thinning.coins.keeping[number]
        yield Share(names, area.epsilon, words, int(inside.sum()), int((inside & thrown.sent).sum()))

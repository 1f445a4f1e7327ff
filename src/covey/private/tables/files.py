"""Files as tables, of whichever format, one or many. Opening them reads schemas; rows are read after the charge.

Rows are streamed, as often as is asked: a piece is read by the thread that wants it, and memory is bounded by the
pieces in flight. A file that is not as it was when it was opened ends the reading with an error.
"""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from covey.errors import DataError, ParameterError
from covey.files import File
from covey.geo.clock import Hand, hand, source_of
from covey.post.threads import cores
from covey.private.tables.base import Piece, Places, Table, not_numeric
from covey.private.tables.coded import Coded, Letters, check_categories, codes, letters
from covey.private.tables.csv.reader import parse
from covey.private.tables.dates import check_dates, steps
from covey.private.tables.folders import FileSet, Stamp, check_distinct, check_stamp, find_files, folder_values, stamp
from covey.private.tables.formats import Format, as_file, check_options
from covey.private.tables.frames import arrow_numbers
from covey.private.tables.ids import PLAIN, Ids, PieceWithIds, arrow_ids, check_name, family_of
from covey.private.tables.one_file import Keeps, Part, Task
from covey.private.tables.points import with_points
from covey.published.profile.columns import CATEGORY, NUMBER, PRIVATE

DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error, BadZipFile, pa.ArrowException, UnicodeError)

T = TypeVar("T")


def open_file(path: str | os.PathLike[str]) -> FileTable:
    """The table in a file, in a folder of them, or in those that a pattern stands for; read as it was declared."""
    source, found = as_file(path), find_files(path)
    check_options(found.format, source)
    reader = found.format.open()
    with ThreadPoolExecutor(cores()) as pool:  # a thousand footers take a while
        files = list(pool.map(partial(_open, found.format, reader, source), found.files))
    check_distinct((file.part.path, file.stamps[file.part.path]) for file in files)
    return FileTable(found, files, source)


class OneFile(NamedTuple):
    part: Part
    stamps: dict[Path, Stamp]  # of the file itself, and of those that belong to it

    def check(self) -> None:
        """Refuse a file that is not as it was when it was opened."""
        for path, known in self.stamps.items():
            check_stamp(path, known)


def _open(kind: Format, reader: Callable[[Path, File], Part], source: File, path: Path) -> OneFile:
    try:
        known = {each: stamp(each) for each in (path, *kind.belongs(path))}
        return OneFile(with_points(reader(path, source), source), known)
    except DAMAGED:
        raise DataError(f"data: {str(path)!r} cannot be read as a {kind.name} file; it may be damaged") from None


class FileTable(Table):
    """Files of one kind, one after the other, as one table. Columns that stand in the names of folders are its last."""

    streamed = True
    names: tuple[str, ...]
    _coded: Mapping[str, Coded] = {}

    def __init__(self, found: FileSet, files: Sequence[OneFile], source: File) -> None:
        self._files = files
        self.reading = source.given
        self._types, self._values = folder_values(found)
        own = dict.fromkeys(name for file in files for name in file.part.names)
        for name in self._types:
            if name in own:
                holder = next(file.part.path for file in files if name in file.part.names)
                raise DataError(f"data: column {name!r} stands in the names of folders and in {str(holder)!r} as well")
        self.names = (*(files[0].part.names if len(files) == 1 else own), *self._types)
        self.width = len(self.names)
        if not self.names:
            raise DataError(
                f"data: 0 feature(s): {str(files[0].part.path)!r} has no columns; a minimum of 1 is required."
            )

    def coded(self, columns: Mapping[str, Coded]) -> FileTable:
        wider = object.__new__(FileTable)
        wider.__dict__.update(self.__dict__)
        wider._coded, wider.names = columns, (*self.names, *columns)
        wider.width = len(wider.names)
        return wider

    def _source(self, name: str) -> str:
        """The column of the files that a column is read from."""
        return self._coded[name].source if name in self._coded else source_of(name)

    def _is_number(self, name: str) -> bool:
        """Whether a column is read as numbers, and not as the cells of it stand."""
        return self._coded[name].kind == NUMBER if name in self._coded else hand(name) is None

    def schema(self) -> list[tuple[str, str | None]]:
        """The columns, and what they hold where a schema says it: nothing here comes from rows."""
        kinds: dict[str, Any] = {}
        for file in self._files:
            for name in file.part.names:
                kinds.setdefault(name, file.part.kind(name) if file.part.typed else None)
        kinds |= self._types
        return [(name, None if kinds[name] is None else str(kinds[name])) for name in self.names]

    def check_unchanged(self) -> None:
        for file in self._files:
            file.check()

    def check_numeric(self, columns: Sequence[str] | None) -> None:
        chosen = list(columns or self.names)
        self._check_there(chosen)
        read = [each for name, each in self._coded.items() if name in chosen and each.kind in (CATEGORY, PRIVATE)]
        categories = list(dict.fromkeys(each.source for each in read))
        others = [self._source(name) for name in chosen if not self._is_number(name)]
        self._check_dates([name for name in others if name not in categories])
        for name in categories:
            for file in self._files:
                check_categories(name, self._types[name] if name in self._types else file.part.kind(name))
        chosen = list(dict.fromkeys(self._source(name) for name in chosen if self._is_number(name)))
        for name in chosen:
            if name in self._types and not pa.types.is_integer(self._types[name]):
                raise not_numeric(name, "text, in the names of folders")
        own = [name for name in chosen if name not in self._types]
        for file in self._files:
            with self._same_file(file):
                self._check_file(file.part, own)
        self._check_any(own)

    def _check_dates(self, columns: list[str]) -> None:
        for name in columns:
            if name in self._types:
                raise not_numeric(name, "in the names of folders, not in a column of dates")
            for file in self._files:
                check_dates(name, file.part.kind(name))

    def _check_file(self, part: Part, own: list[str]) -> None:
        wrong = part.not_numbers(own)
        if wrong is not None:
            raise not_numeric(wrong[0], wrong[1] if len(self._files) == 1 else f"{wrong[1]} in {str(part.path)!r}")

    def _check_any(self, own: list[str]) -> None:
        """A column without a type in some file is one of missing values there, but not if it is so in every file."""
        for name in own:
            if all(pa.types.is_null(file.part.kind(name)) for file in self._files):
                raise not_numeric(name, "null")

    def _check_there(self, names: Sequence[str]) -> None:
        for file, values in zip(self._files, self._values, strict=True):
            for name in map(self._source, names):
                count = file.part.names.count(name) + (name in values)
                if count == 0:
                    where = "the folders of " if name in self._types else ""
                    raise DataError(f"data: column {name!r} is missing in {where}{str(file.part.path)!r}")
                if count > 1:
                    raise DataError(f"data: {str(file.part.path)!r} has several columns {name!r}; rename them")

    def check_person(self, person: str) -> None:
        self._person_family(person)

    def _person_family(self, person: str) -> str:
        check_name(person, self.names)
        self._check_there([person])
        if person in self._types:
            return family_of(person, self._types[person])
        kinds = [(file.part.path, file.part.kind(person)) for file in self._files]
        typed = [(path, family_of(person, kind)) for path, kind in kinds if not pa.types.is_null(kind)]
        if not typed:
            raise ParameterError("person", f"column {person!r} has no values of any type")
        for path, family in typed:
            if family != typed[0][1]:
                raise ParameterError(
                    "person",
                    f"column {person!r} holds {typed[0][1]} in {str(typed[0][0])!r} and {family} in {str(path)!r}; "
                    "make it the same in all files",
                )
        return typed[0][1]

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        chosen = list(columns or self.names)
        for number, task in self._tasks(chosen):
            yield partial(self._numbers, number, task, chosen)

    def pieces_with_ids(self, columns: Sequence[str] | None, person: str) -> Iterator[PieceWithIds]:
        chosen, kind = list(columns or self.names), self._person_family(person)
        for number, task in self._tasks(chosen, [person]):
            yield partial(self._numbers_and_ids, number, task, chosen, person, kind)

    def chosen(self, columns: Sequence[str] | None, places: Iterator[Places]) -> Iterator[Piece]:
        wanted, walk = list(columns or self.names), Walk(places)
        for number, task in self._tasks(wanted):
            inside = walk.among(task.rows())
            if inside.size:
                yield partial(self._numbers, number, task, wanted, inside)

    def rows_told(self) -> int | None:
        told = all(getattr(file.part, "tells_rows", False) for file in self._files)
        return self.rows() if told else None

    def rows(self) -> int:
        self.check_unchanged()
        count = 0
        for file in self._files:
            with self._same_file(file):
                count += file.part.rows()
        return count

    def some(self, keep: NDArray[np.bool_]) -> bytes:
        """Some rows of the only file, whole, as CSV: for a node, which sends rows of its own on."""
        [file] = self._files
        if not isinstance(file.part, Keeps):
            raise DataError("data: rows of such a file cannot be sent on whole; save it as CSV, Parquet or GPX")
        with self._same_file(file):
            return file.part.some(keep)

    @property
    def shared(self) -> tuple[str, ...]:
        """The columns that every file has, and those in the names of folders."""
        return tuple(
            name for name in self.names if name in self._types or all(name in file.part.names for file in self._files)
        )

    def whole(self, columns: Sequence[str]) -> Iterator[tuple[NDArray[np.float64], dict[str, Any]]]:
        """The rows piece by piece, for their owner: some columns as numbers, all other shared ones as they stand."""
        chosen, others = list(columns), [name for name in self.shared if name not in columns]
        for number, task in self._tasks(chosen, others):
            cells = self._read(number, task, [*chosen, *others])
            rest = dict(zip(others, cells[len(chosen) :], strict=True))
            yield self._all_numbers(chosen, cells[: len(chosen)]), rest

    def _tasks(self, columns: list[str], texts: Sequence[str] = ()) -> Iterator[tuple[int, Task]]:
        """All that is to be read, with the number of its file. Some of it may have been read already."""
        self._check_there(columns)
        self.check_unchanged()
        own = [self._source(name) for name in columns if self._is_number(name)]
        own = list(dict.fromkeys(name for name in own if name not in self._types))
        asked = [self._source(name) for name in columns if not self._is_number(name)]
        asked = list(dict.fromkeys(name for name in (*asked, *texts) if name not in self._types))
        for number, file in enumerate(self._files):
            with self._same_file(file):
                chosen = own if own or asked else file.part.names[:1]
                for task in file.part.tasks(chosen, texts=asked):
                    yield number, task
                    file.check()  # before more is touched: it may be mapped into memory
        self.check_unchanged()

    def _numbers(
        self, number: int, task: Task, columns: list[str], places: Places | None = None
    ) -> NDArray[np.float64]:
        return self._all_numbers(columns, self._read(number, task, columns, places))

    def _numbers_and_ids(
        self, number: int, task: Task, columns: list[str], person: str, kind: str
    ) -> tuple[NDArray[np.float64], Ids]:
        *numbers, cells = self._read(number, task, [*columns, person])
        if pa.types.is_null(cells.type):
            cells = pa.nulls(len(cells), pa.int64() if kind == "numbers" else PLAIN)
        return self._all_numbers(columns, numbers), arrow_ids(cells)

    def _read(self, number: int, task: Task, columns: list[str], places: Places | None = None) -> list[Any]:
        file = self._files[number]
        file.check()
        with self._same_file(file):
            batch = task.read()
            if places is not None:
                batch = batch.take(pa.array(places))
            values, sources = self._values[number], map(self._source, columns)
            return [
                pa.repeat(values[name], batch.num_rows) if name in values else batch.column(name) for name in sources
            ]

    def _all_numbers(self, names: list[str], cells: list[Any]) -> NDArray[np.float64]:
        known: dict[str, NDArray[np.float64]] = {}
        return np.stack([self._as_numbers(name, each, known) for name, each in zip(names, cells, strict=True)])

    def _as_numbers(self, name: str, cells: Any, known: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """One column as numbers. known : the letters of columns whose texts were read for another already."""
        column = self._coded.get(name)
        if isinstance(column, Letters):
            if column.source not in known:
                known[column.source] = letters(cells)
            pairs: NDArray[np.float64] = known[column.source][column.place]
            return pairs
        if column is not None:
            return codes(column, _as_numbers(cells) if column.kind == NUMBER else cells)
        return _as_numbers(cells, hand(name))

    @contextmanager
    def _same_file(self, file: OneFile) -> Iterator[None]:
        """What is read here is of the file that was opened, or an error; so is what a damaged file makes Arrow say."""
        try:
            yield
        except DAMAGED:
            file.check()
            raise _broken(file.part.path) from None
        file.check()


class Walk:
    """Goes through places, which ascend block by block, along with pieces of a table."""

    def __init__(self, places: Iterator[Places]) -> None:
        self._places = places
        self._block: Places = np.empty(0, dtype=np.int64)
        self._first = 0
        self._over = False

    def among(self, rows: int) -> Places:
        """The places within the next so many rows, counted from the first of these."""
        end, parts = self._first + rows, []
        while not self._over and (self._block.size == 0 or self._block[-1] < end):
            parts.append(self._block)
            following = next(self._places, None)
            self._over = following is None
            self._block = np.empty(0, dtype=np.int64) if following is None else following
        inside = int(np.searchsorted(self._block, end))
        found: Places = np.concatenate([*parts, self._block[:inside]]) - self._first
        self._block, self._first = self._block[inside:], end
        return found


def _as_numbers(column: Any, circle: Hand | None = None) -> NDArray[np.float64]:
    if circle is not None:
        return circle.numbers(steps(column, circle.kind))
    return arrow_numbers(parse(column) if pa.types.is_binary(column.type) else column)


def _broken(path: Path) -> DataError:
    return DataError(f"data: {str(path)!r} broke off while it was read; nothing is published, any charge stays")

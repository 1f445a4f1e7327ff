"""GPX tracks as rows: one point of a track, one row. Written as a table that the engines read like any other."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import IO
from xml.parsers import expat

from covey.errors import DataError

HEADER = ("lon", "lat", "time")


def track_to_csv(source: Path, target: Path) -> None:
    """Write the points of the tracks in a GPX document as CSV with the columns lon, lat and time.

    A point without a place becomes a row that lacks it. Nothing but the document itself is read: one that declares
    entities is refused, and so is what is no XML, in words that repeat nothing of it.
    """
    with target.open("w", newline="", encoding="utf-8") as file:
        reader = _Reader(file)
        try:
            reader.parser.Parse(source.read_bytes(), True)
        except (OSError, ValueError, expat.ExpatError):
            raise DataError("data: the file is not a GPX document, or broke off, or declares entities") from None


class _Reader:
    """Writes a record at the end of every point."""

    def __init__(self, file: IO[str]) -> None:
        self._write = csv.writer(file, lineterminator="\n").writerow
        self._write(HEADER)
        self._point: dict[str, str] | None = None
        self._words: list[str] | None = None  # of the time that is being read
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = _refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if _plain(name) == "trkpt":
            self._point = {"lon": attributes.get("lon", ""), "lat": attributes.get("lat", "")}
        elif _plain(name) == "time" and self._point is not None:
            self._words = []

    def _text(self, words: str) -> None:
        if self._words is not None:
            self._words.append(words)

    def _end(self, name: str) -> None:
        if _plain(name) == "time" and self._point is not None and self._words is not None:
            self._point["time"], self._words = "".join(self._words).strip(), None
        elif _plain(name) == "trkpt" and self._point is not None:
            self._write([self._point.get(each, "") for each in HEADER])
            self._point = None


def _plain(name: str) -> str:
    """Without its namespace."""
    return name.rpartition(" ")[2]


def _refuse(*_: object) -> None:
    raise ValueError("entities are not read")

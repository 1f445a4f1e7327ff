"""The table of what leaves (docs/reference/what-leaves.md), and walks through all that is published, field by field."""

from __future__ import annotations

import ast
import io
import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq

from covey.algorithms.registry import ALGORITHMS
from covey.published.outside import ROWS_BY_BOUNDS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "what-leaves.md"
USERS = frozenset(
    {"lon", "lat", "a", "b", "c", "d", "e", "f"}
)  # names of columns that the tests give: `*` in the table
KINDS = ("noisy", "rarely noisy", "public", "fresh")
OF_ALL = (
    *("k", "sample", "people", "zones", "zones_note", "choice", "clustered_again", "reduced_to", "not_told"),
    *("constraints", "algorithm_by", "missing", "how_many", "bounds"),
    *ROWS_BY_BOUNDS,
)
PARAGRAPHS = (  # that wrap
    *("This release is", "A coreset by", "Most rows seem", "Limits:", "Missing values were", "About", "What share"),
    *("Each interval", "How far off", "How many", "Its own", "Noise took"),
    *("The cost", "The distance", "The k-means cost", "The k-median cost", "The two ends"),
)
Fields = dict[tuple[str, str], list[str]]  # of each section and field, its values


@dataclass(frozen=True)
class Row:
    """One row of the table: noisy, public or fresh; a public field may be noisy where something special is asked for.

    "rarely noisy" follows noisy numbers so coarsely that a test can hardly see it.
    """

    kind: str
    unless: frozenset[str]

    def in_case(self, tags: frozenset[str]) -> str:
        return "noisy" if self.unless & tags else self.kind


def table() -> dict[tuple[str, str], Row]:
    """Every row of the page: a first cell of one or more fields in backticks, a class, and why."""
    found: dict[tuple[str, str], Row] = {}
    section = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("| `"):
            cells = re.split(r"(?<!\\)\|", line)
            fields = [each.replace("\\|", "|") for each in re.findall(r"`([^`]+)`", cells[1])]
            kind, _, tags = cells[2].strip().partition(" unless ")
            assert kind in KINDS, line
            assert len(cells) == 5, line
            assert cells[3].strip(), line
            row = Row(kind, frozenset(filter(None, tags.split(", "))))
            for field in fields:
                assert (section, field) not in found, f"twice: {section}, {field}"
                found[section, field] = row
    return found


def listed(rows: dict[tuple[str, str], Row], section: str, field: str) -> tuple[str, str] | None:
    """The row of a field: its own, or one of all that is below (`.**`), or a line that it is an instance of.

    What a user gave in algorithm_params is part of the request; where a note has the same name, that has a row.
    """
    if (section, field) in rows:
        return section, field
    algorithm, _, name = field.partition("[")[0].partition(".")
    if section == "Parameters" and algorithm in ALGORITHMS and name in ALGORITHMS[algorithm].parameters:
        return section, "given"
    for name, each in rows:
        if name == section and (
            (each.endswith(".**") and field.startswith(each.removesuffix("**")))
            or ("{" in each and re.fullmatch(re.sub(r"\\\{\w+\\\}", ".+", re.escape(each)), field))
        ):
            return name, each
    return None


# --- documents --------------------------------------------------------------------------------------------------------


def of_json(section: str, document: Any) -> Fields:
    """The fields of a JSON document; certificates and releases within it under sections of their own."""
    found: Fields = defaultdict(list)
    for where, field, value in _walk(section, "", document):
        found[where, field].append(repr(value))
    return found


def _walk(section: str, path: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, dict) and {"algorithm", "parameters", "epsilon"} <= set(value):
        yield from _walk_certificate(value)
    elif isinstance(value, dict) and value.get("format") == "covey-release" and section != "Release":
        yield from _walk("Release", "", value)
    elif isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _walk(section, f"{path}.{'*' if key in USERS else key}".removeprefix("."), each)
    elif isinstance(value, list) and value:
        for each in value:
            yield from _walk(section, f"{path}[]", each)
    else:
        yield section, path, value


def _walk_certificate(certificate: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for name, value in certificate.items():
        if name == "parameters":
            for each, given in value.items():
                whose = "any" if each in OF_ALL else certificate["algorithm"]
                yield from _walk("Parameters", f"{whose}.{each}", given)
        elif name == "parts" and value:
            yield "Certificate", "parts[]", len(value)
            for part in value:
                yield from _walk_certificate(part)
        else:
            yield from _walk("Certificate", name, value)


def of_parquet(content: bytes) -> Fields:
    """Everything that a Parquet file says beside its rows, and its rows by column."""
    file = pq.ParquetFile(io.BytesIO(content))
    facts = file.metadata.to_dict()
    keys = file.metadata.metadata or {}
    document = msgspec.json.decode(keys.pop(b"covey"))
    names = {document["weight_column"]: "weight", **dict.fromkeys(document["cell_columns"] or (), "cell width")}
    names |= {document["spread_column"]: "spread"} if document["spread_column"] else {}
    found = of_json("Coreset as Parquet", facts | {"metadata": {key.decode(): "" for key in keys}})
    for where, values in of_json("Coreset", document).items():
        found[where] += values
    for name, column in zip(file.schema_arrow.names, file.read().columns, strict=True):
        field = f"column {names.get(name, '*' if name in USERS else name)}"
        found["Coreset as Parquet", field] += [repr(each) for each in column.to_pylist()]
    return found


def of_png(content: bytes) -> Fields:
    """The chunks of a PNG: pixels, and whatever else stands in it."""
    found: Fields = defaultdict(list)
    place = 8
    while place < len(content):
        (size,), kind = struct.unpack(">I", content[place : place + 4]), content[place + 4 : place + 8].decode()
        body = content[place + 8 : place + 8 + size]
        key = f" {body.split(bytes(1))[0].decode()}" if kind.endswith("Xt") else ""
        found["Picture", kind + key].append(repr(body))
        place += 12 + size
    return found


class _Report(HTMLParser):
    """Every text by its element, cells by the head of their row or column, and every attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Fields = defaultdict(list)
        self._open: list[str] = []
        self._heads: list[str] = []
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("class")
        name = re.sub(r" ([bz])\d$", r" \1*", f"{tag}.{kind}") if kind else tag  # shades, and nearness of names
        name = "ground" if kind and kind.startswith("ground ") else name  # what lies under the map
        for key, value in attrs:
            if key != "class":
                self._add(name if name == "ground" else f"{name} @{key}", value)
        self._open.append(name)
        if tag == "table":
            self._heads = []
        if tag == "tr":
            self._cells = 0

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().partition(".")[0] != tag:
            pass

    handle_startendtag = handle_starttag

    def handle_data(self, data: str) -> None:
        if data.strip() and self._open:
            name = self._open[-1]
            if name.startswith("th"):
                self._heads = [] if name == "th" and data != "centre" else self._heads
                self._heads.append("*" if data in USERS else "zone" if data.startswith("zone ") else data)
                name = "th" if self._heads[-1] not in ("*", "zone") else f"th {self._heads[-1]}"
            elif name.startswith("td"):
                name = f"td {self._heads[min(self._cells, len(self._heads) - 1)]}"
                self._cells += 1
            self._add(name, " ".join(data.split()))

    def _add(self, name: str, value: object) -> None:
        self.found["report.html", name].append(repr(value))

    def handle_comment(self, data: str) -> None:
        self._add("comment", data)


def of_report(content: bytes) -> Fields:
    reader = _Report()
    reader.feed(content.decode())
    return reader.found


def of_text(section: str, text: str) -> Fields:
    """Blocks between empty lines: paragraphs by their words, tables by their heads."""
    found: Fields = defaultdict(list)
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.splitlines()
        if len(lines) > 1 and set(lines[1]) <= {"-", " "}:
            for place in (slice(*each.span()) for each in re.finditer("-+", lines[1])):
                head = lines[0][place].strip()
                cells = [line[place].strip() for line in lines[2:]]
                found[section, f"column {'*' if head in USERS else head}"] += cells
        elif len(lines) > 1 and lines[1].startswith("+--"):
            found[section, "map"].append(block)
        elif block.startswith(PARAGRAPHS):
            found[section, " ".join(lines)].append(block)
        else:
            for line in lines:
                found[section, line].append(line)
    return found


def of_steps(steps: list[tuple[int, int, str]]) -> Fields:
    """What a fit tells of its progress."""
    found: Fields = defaultdict(list)
    for done, of, what in steps:
        found["Progress", "done"].append(repr(done))
        found["Progress", "of"].append(repr(of))
        found["Progress", what].append(what)
    return found


def joined(*parts: Fields) -> Fields:
    found: Fields = defaultdict(list)
    for part in parts:
        for where, values in part.items():
            found[where] += values
    return found


def slots_of_errors() -> set[str]:
    """Whatever is put into the words of an error, in the folders whose code may hold rows or what was released."""
    return {
        ast.unparse(slot.value)
        for folder in ("private", "queries", "algorithms")
        for path in sorted((ROOT / "src" / "covey" / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise) and node.exc is not None
        for slot in ast.walk(node.exc)
        if isinstance(slot, ast.FormattedValue)
    }

"""What gets published: centres, noisy sizes, and a certificate that says exactly what was promised to whom.

A release file is one JSON document, readable without Covey; docs/reference/release-format.md describes it.
"""

from __future__ import annotations

import os
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.promise import Promise
from covey.errors import FormatError, ParameterError
from covey.events import Neighbours, exactly
from covey.files import write_whole
from covey.geo.geojson import feature_collection, find_axes

FORMAT, VERSION = "covey-release", 1
MOST_EPSILON = 10**4
UNCOVERED = "the choice is not covered"  # what no merge may hide
_UP, _DIGITS = Context(prec=3, rounding=ROUND_CEILING), Context(prec=40)  # never the caller's own precision
_RULES = {
    frozenset({"largest"}): "nobody is in more than one of them, so the weakest promise among them holds for everyone",
    frozenset({"sum"}): "somebody may be in several of them, so their amounts were added up",
}
_MIXED = "amounts of those that may share people were added up; of those that nobody shares, the larger counts"


def in_full(amount: float) -> str:
    """A privacy parameter with all its digits: one that is rounded down would promise too much."""
    short = f"{amount:g}"
    return short if float(short) == amount else repr(amount)


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """The promise that comes with a release.

    unit : the column whose equal values make one person, or None where a person is one row. receipt : random text that
    the ledger holds with the charge; None where no durable ledger was kept.
    """

    algorithm: str
    parameters: dict[str, Any]
    epsilon: float
    delta: float
    neighbours: str
    person: str
    domain: dict[str, Any]
    seeded: bool
    covey: str
    unit: str | None = None
    dataset: str | None = None
    receipt: str | None = None
    parts: list[Certificate] | None = None  # of a merged coreset: what it was made of

    @property
    def promise(self) -> Promise:
        """Its amounts with their type: what can be added to another promise, and what cannot."""
        return Promise(Neighbours.parse(self.neighbours), self.unit, exactly(self.epsilon), exactly(self.delta))

    def leaves(self) -> list[Certificate]:
        """The certificates of the single releases that this one was made of; itself if it is one."""
        found, waiting = [], [self]
        while waiting:
            each = waiting.pop()
            waiting += reversed(each.parts or ())
            if not each.parts:
                found.append(each)
        return found

    def _rules(self) -> frozenset[Any]:
        """All rules by which this certificate and its parts were composed."""
        found, waiting = set(), [self]
        while waiting:
            each = waiting.pop()
            if each.parts:
                found.add(each.parameters.get("composition"))
                waiting += each.parts
        return frozenset(found)

    def _zones_and_choice(self) -> list[str]:
        """What is promised to rows in zones, and how a privacy level was chosen; of every part too, none left out."""
        leaves = self.leaves() if self.parts else []
        of_parts: dict[str, list[int]] = {}
        for number, part in enumerate(leaves, start=1):
            for words in part._own_words():
                of_parts.setdefault(words, []).append(number)
        lines = [f"{words[:1].upper()}{words[1:]}." for words in self._own_words()]
        for words, numbers in of_parts.items():
            told = f"Part {', '.join(map(str, numbers))}" if len(numbers) < len(leaves) else "Each part"
            lines.append(f"{told} of {len(leaves)}, by itself: {words}.")
        return lines

    def _own_words(self) -> list[str]:
        zones, choice = self.parameters.get("zones"), self.parameters.get("choice")
        given = [each.get("epsilon") for each in zones if isinstance(each, dict)] if isinstance(zones, list) else []
        amounts = [float(each) for each in given if isinstance(each, int | float) and each < self.epsilon]
        lines = []
        if amounts:
            told = ", ".join(in_full(each) for each in sorted(set(amounts)))
            where = f"{len(amounts)} zones" if len(amounts) > 1 else "zone"
            lines.append(
                f"rows in its {where} are promised more: epsilon = {told}; moving a row across a border of a zone is "
                "covered by both amounts together"
            )
        return [*lines, choice] if isinstance(choice, str) else lines

    @property
    def statement(self) -> str:
        """The promise in plain words."""
        lines = []
        if self.seeded:
            lines.append(
                "SEEDED: NOT PRIVATE. The noise was drawn from a known seed and can be subtracted. For tests only."
            )
        unit = f"one person ({self.person})"
        change = (
            f"whether {unit} is in the data or not"
            if self.neighbours == "add-remove"
            else f"whatever the values of {unit} are"
        )
        factor = _UP.create_decimal(_DIGITS.exp(Decimal(self.epsilon)))  # "at most": never rounded down
        lines.append(
            f"This release is differentially private with epsilon = {in_full(self.epsilon)}"
            + (f" and delta = {in_full(self.delta)}" if self.delta else "")
            + f": {change}, the chance of any particular result changes by a factor of at most {factor}"
            + (f", but for an exceptional chance of {in_full(self.delta)}." if self.delta else ".")
        )
        lines.append(
            "The number of people is protected too."
            if self.neighbours == "add-remove"
            else "The number of rows is not protected: it is treated as public."
        )
        lines += self._zones_and_choice()
        lines.append("The promise covers what is published here; further releases of the same data add to it.")
        leaves = self.leaves()
        if len(leaves) > 1:
            lines.append(f"It joins {len(leaves)} releases: {_RULES.get(self._rules(), _MIXED)}.")
        if any(each.receipt is None for each in leaves):
            lines.append("No durable ledger was kept: nobody has counted earlier releases of the same data.")
        return " ".join(lines)


class Synopsis(msgspec.Struct, frozen=True):
    """A noisy histogram on a grid of equal cells over the domain's cube; the last column's cells come fastest.

    A count stands for `rows_per_count` rows: 1, or more where the histogram is of a sample.
    """

    cells_per_axis: int
    counts: list[int]
    rows_per_count: float = 1.0

    def scaled(self, scale: float) -> Synopsis:
        """The histogram of a sample as one of all rows, each of which that many stand for."""
        return msgspec.structs.replace(self, rows_per_count=self.rows_per_count * scale)


class WeightedPoints(msgspec.Struct, frozen=True):
    """A private coreset: points, their noisy weights, and the width of the cell that each point is the middle of.

    Weights may be negative. Without `cells`, a point stands for rows at it, or about it where there are `spreads`:
    their mean squared distance from it, with columns scaled to [-1, 1] by the bounds.
    """

    points: list[list[float]]
    weights: list[float]
    cells: list[list[float]] | None = None
    spreads: list[float] | None = None

    def fits(self, width: int) -> bool:
        """Whether the lists match one another and the number of columns."""
        rows, lists = [*self.points, *(self.cells or ())], (self.weights, self.cells, self.spreads)
        same = all(each is None or len(each) == len(self.points) for each in lists)
        possible = all(each >= 0 for each in self.spreads or ())
        return same and possible and bool(self.points) and all(len(row) == width for row in rows)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON document of a release."""

    format: str
    version: int
    objective: str
    columns: list[str]
    centres: list[list[float]]
    sizes: list[float] | None
    certificate: Certificate
    statement: str
    synopsis: Synopsis | None = None
    coreset: WeightedPoints | None = None


def is_possible(promise: Certificate, width: int) -> bool:
    """Whether a certificate that was read from a file holds a promise that can be true of data with these columns.

    What joins several is of their type, and promises no more than each of them.
    """
    return all(
        0 < each.epsilon <= promise.epsilon <= MOST_EPSILON
        and 0 <= each.delta <= promise.delta < 1
        and _fits(each.domain, width)
        and _typed(each)
        and each.promise.kind == promise.promise.kind
        for each in (promise, *promise.leaves())
    )


def _typed(certificate: Certificate) -> bool:
    """Whether the promise has a type, and its words are about the same people."""
    try:
        unit = certificate.promise.kind.unit
    except ParameterError:
        return False
    words = "one row" if unit is None else f"all rows with the same {unit!r}, of which at most "
    return certificate.person == words if unit is None else certificate.person.startswith(words)


def scale_of(domain: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middle and half-width of every column's public range: what distances are measured in."""
    if domain["type"] == "ball":
        middle = np.array(domain["center"], dtype=np.float64)
        return middle, np.full(len(middle), float(domain["radius"]))
    lower, upper = (np.array(domain[end], dtype=np.float64) for end in ("lower", "upper"))
    return lower / 2 + upper / 2, upper / 2 - lower / 2


def _fits(domain: dict[str, Any], width: int) -> bool:
    """Whether a description is that of a box or a ball in so many columns."""
    names = {"box": ("lower", "upper"), "ball": ("center",)}.get(str(domain.get("type")))
    if names is None or (names == ("center",) and not isinstance(domain.get("radius"), int | float)):
        return False
    ends = [domain.get(name) for name in names]
    return all(
        isinstance(end, list) and len(end) == width and all(isinstance(each, int | float) for each in end)
        for end in ends
    )


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """Centres to publish. `sizes` are noisy numbers of rows (they may be negative), or None if none were paid for."""

    objective: str
    columns: list[str]
    centres: list[list[float]]
    sizes: list[float] | None
    certificate: Certificate
    synopsis: Synopsis | None = None
    coreset: WeightedPoints | None = None

    def to_json(self) -> bytes:
        document = Document(
            format=FORMAT,
            version=VERSION,
            objective=self.objective,
            columns=self.columns,
            centres=self.centres,
            sizes=self.sizes,
            certificate=self.certificate,
            statement=self.certificate.statement,
            synopsis=self.synopsis,
            coreset=self.coreset,
        )
        return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"

    @classmethod
    def from_json(cls, content: bytes) -> Release:
        """The release in a JSON document; anything else is refused with what is wrong."""
        try:
            head = msgspec.json.decode(content, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise FormatError("release: not a JSON document of Covey") from None
        if head.get("format") != FORMAT:
            raise FormatError(f"release: not a Covey release (its format is not {FORMAT!r})")
        if head.get("version") != VERSION:
            raise FormatError(f"release: this Covey reads version {VERSION} of the format; use the Covey that wrote it")
        try:
            document = msgspec.convert(head, type=Document)
        except msgspec.ValidationError as error:
            raise FormatError(f"release: the document is damaged: {error}") from None
        width = len(document.columns)
        if not is_possible(document.certificate, width):
            raise FormatError("release: the document is damaged: the certificate holds no possible promise")
        if not document.centres or any(len(centre) != width for centre in document.centres):
            raise FormatError("release: the document is damaged: centres and columns do not match")
        if document.sizes is not None and len(document.sizes) != len(document.centres):
            raise FormatError("release: the document is damaged: sizes and centres do not match")
        if document.synopsis is not None and len(document.synopsis.counts) != document.synopsis.cells_per_axis**width:
            raise FormatError("release: the document is damaged: the synopsis does not match the columns")
        if document.synopsis is not None and not 1 <= document.synopsis.rows_per_count < 1e15:
            raise FormatError("release: the document is damaged: the synopsis does not say how many rows a count is")
        if document.coreset is not None and not document.coreset.fits(width):
            raise FormatError("release: the document is damaged: the coreset does not match the columns")
        return cls(
            objective=document.objective,
            columns=document.columns,
            centres=document.centres,
            sizes=document.sizes,
            certificate=document.certificate,
            synopsis=document.synopsis,
            coreset=document.coreset,
        )

    def scale(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The middle and half-width of every column's public range: what distances are measured in."""
        return scale_of(self.certificate.domain)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release as JSON, whole or not at all."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Release:
        """Read a release that was saved."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise FormatError(f"release: cannot read {str(path)!r}: {error.strerror}") from None
        return cls.from_json(content)

    def to_geojson(self, *, lon: str | None = None, lat: str | None = None) -> dict[str, Any]:
        """The centres as GeoJSON points with their noisy sizes, for any map."""
        east, north = find_axes(self.columns, lon, lat)
        sizes: list[float] | list[None] = self.sizes or [None] * len(self.centres)
        points = [(centre[east], centre[north]) for centre in self.centres]
        properties = [
            {"cluster": i, "size": None if size is None else round(size)} | dict(zip(self.columns, centre, strict=True))
            for i, (centre, size) in enumerate(zip(self.centres, sizes, strict=True))
        ]
        document = feature_collection(points, properties)
        return document | {"covey": {"epsilon": self.certificate.epsilon, "statement": self.certificate.statement}}

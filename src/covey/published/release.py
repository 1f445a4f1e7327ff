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
from covey.published.errors import BoxNoise, Errors
from covey.published.outside import Share, share_outside

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
    noise: BoxNoise | None = None


class WeightedPoints(msgspec.Struct, frozen=True):
    """A private coreset: points, their noisy weights, and the width of the cell that each point is the middle of.

    Weights may be negative. Without `cells`, a point stands for itself alone.
    """

    points: list[list[float]]
    weights: list[float]
    cells: list[list[float]] | None = None
    noise: BoxNoise | None = None

    def fits(self, width: int) -> bool:
        """Whether the lists match one another and the number of columns."""
        rows = [*self.points, *(self.cells or ())]
        same = len(self.weights) == len(self.points) and len(self.cells or self.points) == len(self.points)
        known = self.noise is None or self.noise.fits(len(self.points))
        return same and known and bool(self.points) and all(len(row) == width for row in rows)


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
    errors: Errors | None = None
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


def _known(synopsis: Synopsis) -> bool:
    return synopsis.noise is None or synopsis.noise.fits(len(synopsis.counts))


def _table(pairs: list[tuple[float, float]] | None) -> NDArray[np.float64] | None:
    return None if pairs is None else np.array(pairs, dtype=np.float64).reshape(-1, 2)


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """Centres to publish. `sizes` are noisy numbers of rows (they may be negative), or None if none were paid for."""

    objective: str
    columns: list[str]
    centres: list[list[float]]
    sizes: list[float] | None
    certificate: Certificate
    errors: Errors | None = None
    synopsis: Synopsis | None = None
    coreset: WeightedPoints | None = None

    @property
    def size_intervals(self) -> NDArray[np.float64] | None:
        """k x 2: between which two numbers each size is, nine times in ten. None where that cannot be told."""
        return _table(None if self.errors is None else self.errors.sizes)

    @property
    def joint_size_intervals(self) -> NDArray[np.float64] | None:
        """k x 2: wider ones, in which nine times in ten *all* sizes are."""
        return _table(None if self.errors is None else self.errors.joint_sizes)

    @property
    def doubtful(self) -> NDArray[np.bool_] | None:
        """Which centres may be only noise. None where that cannot be told."""
        known = None if self.errors is None else self.errors.doubtful
        return None if known is None else np.array(known, dtype=np.bool_)

    @property
    def centre_radii(self) -> NDArray[np.float64] | None:
        """How far each centre may be from where it would be without noise, nine times in ten, in half-widths.

        1 is half of every column's range (a ball's radius). nan: the place is not determined. Where they were not asked
        for at the fit but its synopsis was kept, the first call runs the fit some times on made-up rows: a second or
        two. None where there is no synopsis.
        """
        rerun = self._reruns()
        return None if rerun is None or rerun.radii is None else np.array(rerun.radii, dtype=np.float64)

    @property
    def excess_bound(self) -> float | None:
        """By what part the centres may cost more than those without privacy, if no cluster was missed: 0.05 is 5%."""
        rerun = self._reruns()
        return None if rerun is None else rerun.excess

    def _reruns(self) -> Errors | None:
        if self.errors is None or self.errors.radii is not None or self.errors.excess is not None:
            return self.errors
        if self.synopsis is None and self.coreset is None:
            return None
        from covey.fit.rehearse import rehearsed

        return rehearsed(self)

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
            errors=self.errors,
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
        if document.errors is not None and not document.errors.fits(len(document.centres)):
            raise FormatError("release: the document is damaged: errors and centres do not match")
        if document.synopsis is not None and len(document.synopsis.counts) != document.synopsis.cells_per_axis**width:
            raise FormatError("release: the document is damaged: the synopsis does not match the columns")
        if document.synopsis is not None and not 1 <= document.synopsis.rows_per_count < 1e15:
            raise FormatError("release: the document is damaged: the synopsis does not say how many rows a count is")
        if document.synopsis is not None and not _known(document.synopsis):
            raise FormatError("release: the document is damaged: the noise of the synopsis is none")
        if document.coreset is not None and not document.coreset.fits(width):
            raise FormatError("release: the document is damaged: the coreset does not match the columns")
        return cls(
            objective=document.objective,
            columns=document.columns,
            centres=document.centres,
            sizes=document.sizes,
            certificate=document.certificate,
            errors=document.errors,
            synopsis=document.synopsis,
            coreset=document.coreset,
        )

    def scale(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The middle and half-width of every column's public range: what distances are measured in."""
        return scale_of(self.certificate.domain)

    @property
    def rows_outside(self) -> Share | None:
        """The share of the rows that was outside the bounds, (share, low, high), or None if that was not paid for."""
        return share_outside(self.certificate)

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

"""The certificate of a release: what was promised, to whom, in numbers and in plain words."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.promise import Promise
from covey.errors import ParameterError
from covey.events import Neighbours, exactly

MOST_EPSILON = 10**4
MOST_COORDINATE = 1e301  # bounds are below
MOST_WHOLE = 2**63  # a whole number of more digits is none for numpy
LEAST_SCALE = 1e-6  # no fit lets a column count so little
UNCOVERED = "the choice is not covered"  # what no merge may hide
_UP, _DIGITS = Context(prec=3, rounding=ROUND_CEILING), Context(prec=40)  # never the caller's own precision
_RULES = {
    frozenset({"largest"}): "nobody is in more than one of them, so the weakest promise among them holds for everyone",
    frozenset({"sum"}): "somebody may be in several of them, so their amounts were added up",
}
_MIXED = "amounts of those that may share people were added up; of those that nobody shares, the larger counts"


def factor_of(epsilon: float) -> str:
    """By what factor chances change at most, in three digits and never rounded down: as every statement says it."""
    return str(_UP.create_decimal(_DIGITS.exp(Decimal(epsilon))))


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
        choice = self.parameters.get("choice")
        amounts = [each for each in self._numbers("zones", "epsilon") if each < self.epsilon]
        lines = []
        if amounts:
            told = ", ".join(in_full(each) for each in sorted(set(amounts)))
            where = f"{len(amounts)} zones" if len(amounts) > 1 else "zone"
            lines.append(
                f"rows in its {where} are promised more: epsilon = {told}; moving a row across a border of a zone is "
                "covered by both amounts together"
            )
        if isinstance(found := self.parameters.get("bounds"), dict) and isinstance(found.get("ranges"), dict):
            names = ", ".join(map(repr, found["ranges"]))
            lines.append(f"the range of {names} was found privately, and is covered by this epsilon")
        if isinstance(by := self.parameters.get("algorithm_by"), str):
            lines.append(f"the algorithm is that of {by}, not one of Covey's: that it keeps the promise is on trust")
        if earlier := self._numbers("centres_of", "epsilon"):
            cost = " and ".join(map(in_full, earlier))
            deltas = [in_full(each) for each in self._numbers("centres_of", "delta") if each]
            cost += f" and delta = {' and '.join(deltas)}" if deltas else ""
            lines.append(f"the centres were released before, with epsilon = {cost}, and that adds to this")
        return [*lines, choice] if isinstance(choice, str) else lines

    def _numbers(self, name: str, field: str) -> list[float]:
        """Of a list of documents among the parameters; what is no number there, as in a damaged file, is left out."""
        given = self.parameters.get(name)
        found = [each.get(field) for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        return [float(each) for each in found if isinstance(each, int | float)]

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
        lines.append(
            f"This release is differentially private with epsilon = {in_full(self.epsilon)}"
            + (f" and delta = {in_full(self.delta)}" if self.delta else "")
            + f": {change}, the chance of any {'set of results' if self.delta else 'particular result'} changes by a "
            + f"factor of at most {factor_of(self.epsilon)}"
            + (f", and beyond that by at most {in_full(self.delta)}." if self.delta else ".")
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
    """The middle of every column's public range, and what distances are measured in: half of it, or more where the
    column counts less than others."""
    if domain["type"] == "ball":
        middle = np.array(domain["center"], dtype=np.float64)
        return middle, np.full(len(middle), float(domain["radius"]))
    lower, upper = (np.array(domain[end], dtype=np.float64) for end in ("lower", "upper"))
    return lower / 2 + upper / 2, (upper / 2 - lower / 2) / reach_of(domain)


def without_places(certificate: Certificate) -> list[str]:
    """One sentence, where places and the extra cost were asked for and a fit could not tell them."""
    reasons = certificate.parameters.get("not_told")
    why = reasons.get("places") if isinstance(reasons, dict) else None
    what = "How near centres are to where they would be without noise, and how much more they cost,"
    return [f"{what} cannot be told: {why}."] if isinstance(why, str) else []


def reach_of(domain: dict[str, Any]) -> NDArray[np.float64]:
    """How far every column's range reaches in the cube [-1, 1]^d: all of it, unless the column counts less."""
    return np.array(domain.get("scale", [1.0] * len(domain.get("lower") or domain["center"])), dtype=np.float64)


def _fits(domain: dict[str, Any], width: int) -> bool:
    """Whether a description is that of a box or a ball in so many columns."""
    names = {"box": ("lower", "upper"), "ball": ("center",)}.get(str(domain.get("type")))
    if names is None or (names == ("center",) and not (_is_number(domain.get("radius")) and domain["radius"] > 0)):
        return False
    ends = [domain.get(name) for name in names]
    if not all(isinstance(end, list) and len(end) == width and all(map(_is_number, end)) for end in ends):
        return False
    if names == ("center",):
        return "scale" not in domain
    return all(low < high for low, high in zip(*ends, strict=True)) and _counts(
        domain.get("scale", [1.0] * width), width
    )


def _counts(scale: Any, width: int) -> bool:
    """Whether columns can count as much as this says: one of them 1, and no other more."""
    known = isinstance(scale, list) and len(scale) == width and all(map(_is_number, scale))
    return known and min(scale) > LEAST_SCALE and max(scale) == 1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < (MOST_WHOLE if isinstance(value, int) else MOST_COORDINATE)

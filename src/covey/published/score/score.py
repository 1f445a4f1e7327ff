"""How good centres are: noisy masses of rows by their distance, with a certificate of their own, and what they tell."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.errors import FormatError, ParameterError
from covey.files import write_whole
from covey.post.ratios import Noisy, Told
from covey.published.certificate import MOST_COORDINATE, Certificate, is_possible

FORMAT, VERSION = "covey-score", 1
BENT = 0.006  # by what part the mean of roots between two knots exceeds that of the knots' roots, at most
MOST_NUMBERS = 2.0**62
MOST_COST = 1e60  # of a row: squares of sums of more overflow


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """One set of centres. knots : costs of rows, ascending, with columns scaled by the bounds: squared distances, or
    distances for k-median; twice where rings break. masses : how many rows are there, noisy, in parts of `mass`.
    separation : between the two nearest of its centres; None of a single one."""

    name: str
    centres: list[list[float]]
    knots: list[float]
    masses: list[int]
    separation: float | None = None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A score as it is stored: readable without Covey."""

    format: str
    version: int
    objective: str
    sets: list[Scored]
    one: Scored
    mass: int
    noise_scale: float
    unit: float
    metres: bool
    within: float | None
    clip: float | None
    certificate: Certificate
    statement: str
    scores: dict[str, dict[str, Told | None]] = {}


class Score:
    """How good one or several sets of centres are, on the same rows: costs, distances and shares with their intervals.

    sets : the sets, the first of them that of the release. one : all rows against a single centre. unit : what distance
    1 is in the units of the data, or in metres; 0 where columns are in different units, and it is half of the widest
    range. within, clip : the distances that were asked for, in the same unit.
    """

    def __init__(
        self,
        *,
        objective: str,
        sets: list[Scored],
        one: Scored,
        mass: int,
        noise_scale: float,
        unit: float,
        metres: bool,
        within: float | None,
        clip: float | None,
        certificate: Certificate,
    ) -> None:
        self.objective, self.sets, self.one, self.mass, self.noise_scale = objective, sets, one, mass, noise_scale
        self.unit, self.metres, self.within, self.clip, self.certificate = unit, metres, within, clip, certificate

    def cost(self, name: str | None = None) -> Told:
        """The cost, with columns scaled by the bounds, as releases and coresets tell it; never below 0."""
        return self._numbers.sum(self._weights(name, self._knots(name)) / self.mass, least=0.0)

    def rows(self) -> Told:
        """How many rows were looked at."""
        every = np.ones(len(self._numbers.numbers)) / (self.mass * (len(self.sets) + 1))
        return self._numbers.sum(every, least=0.0)

    def distance(self, name: str | None = None) -> Told | None:
        """The mean distance of a row from its centre; None where there may be no rows."""
        knots = self._knots(name)
        own = np.sqrt(knots) if self.objective == "k-means" else knots
        far = self._mean(name, own, most=own[-1])
        if far is None or self.objective == "k-median":
            return far if far is None else self._in_unit(far)
        near = self._mean(name, np.arange(len(knots)) < 2)
        bent = BENT * far[2] + np.sqrt(knots[1]) / 4 * (1.0 if near is None else min(near[2], 1.0))
        return self._in_unit((far[0], far[1], far[2] + bent))

    def root_mean_square(self, name: str | None = None) -> Told | None:
        """The root of the mean squared distance, for k-means; None where there may be no rows."""
        knots = self._knots(name)
        mean = self._mean(name, knots, most=knots[-1]) if self.objective == "k-means" else None
        return None if mean is None else self._in_unit(tuple(map(math.sqrt, mean)))

    def share_within(self, name: str | None = None) -> Told | None:
        """The share of the rows within the distance that was asked for; None where none was, or no rows may be."""
        if self.within is None:
            return None
        knots = self._knots(name)
        copies = np.flatnonzero(np.diff(knots) == 0)
        last = int(copies[0]) if len(copies) else len(knots) - 1
        return self._mean(name, (np.arange(len(knots)) <= last).astype(np.float64))

    def explained(self, name: str | None = None) -> Told | None:
        """What share of the cost of one centre, at the middle of the released ones, these centres save: for k-means the
        share of the variance that they explain. None where that cannot be told."""
        ratio = self._ratio(name, self.one)
        return None if ratio is None else (1 - ratio[0], 1 - ratio[2], 1 - ratio[1])

    def compared(self, name: str, other: str | None = None) -> Told | None:
        """What a set costs, as a part of what another (the first) costs: below 1 it is better. None: cannot be told."""
        return self._ratio(name, self._set(other))

    def is_better(self, name: str, other: str | None = None) -> bool | None:
        """Whether a set costs less than another (the first) beyond doubt; None where the noise does not tell."""
        change = self._weights(name, self._knots(name)) - self._weights(other, self._knots(other))
        _, low, high = self._numbers.sum(change)
        return True if high < 0 else False if low > 0 else None

    def told(self, name: str | None = None) -> dict[str, Told | None]:
        """All scores of a set, by what they are called."""
        found = {
            "cost": self.cost(name),
            "mean distance": self.distance(name),
            "root mean square": self.root_mean_square(name),
            "share within": self.share_within(name),
            "explained": self.explained(name),
        }
        first = self.sets[0].name
        return found if name in (None, first) else {**found, "cost in parts of the first": self.compared(str(name))}

    def to_json(self) -> bytes:
        """The score as JSON."""
        fields = {name: getattr(self, name) for name in Document.__struct_fields__ if hasattr(self, name)}
        scores = {each.name: self.told(each.name) for each in self.sets}
        statement = self.certificate.statement
        return msgspec.json.encode(
            Document(format=FORMAT, version=VERSION, statement=statement, scores=scores, **fields)
        )

    @classmethod
    def from_json(cls, content: bytes) -> Score:
        """The score in a JSON document; anything else is refused with what is wrong."""
        try:
            found = msgspec.json.decode(content, type=Document)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise FormatError("score: not a score of Covey, or a damaged one") from None
        if (found.format, found.version) != (FORMAT, VERSION):
            raise FormatError(f"score: this Covey reads {FORMAT!r} of version {VERSION}")
        names = [each.name for each in found.sets]
        width = len(found.one.centres[0]) if found.one.centres else 0
        if (
            not names
            or len(set(names)) < len(names)
            or found.objective not in ("k-means", "k-median")
            or not all(_is_possible(each, width) for each in (*found.sets, found.one))
            or not all(0 < each < MOST_NUMBERS for each in (found.mass, found.noise_scale))
            or not 0 <= found.unit < 10 * MOST_COORDINATE
            or not is_possible(found.certificate, width)
        ):
            raise FormatError("score: the document is damaged: its numbers, sets and certificate do not match")
        left = ("format", "version", "statement", "scores")
        return cls(**{name: getattr(found, name) for name in Document.__struct_fields__ if name not in left})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the score as JSON, whole or not at all."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Score:
        """Read a score that was saved."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise FormatError(f"score: cannot read {str(path)!r}: {error.strerror}") from None
        return cls.from_json(content)

    def plot(self) -> bytes:
        """The share of rows within every distance as PNG, a curve for each set."""
        from covey.published.score.draw import curves

        return curves(self)

    def within_knots(self, name: str | None = None) -> tuple[NDArray[np.float64], list[Told | None]]:
        """At every knot, as a distance, the share of rows that are not farther: but for the noise exact at breaks and
        at the end; elsewhere half of a knot's mass is taken to be nearer."""
        knots = self._knots(name)
        places, twice = np.arange(len(knots)), np.append(np.diff(knots) == 0, False)
        own = np.where(twice, 1.0, 0.5) * ~np.insert(twice[:-1], 0, False)
        own[-1] = 1.0
        shares = [self._mean(name, np.where(places == each, own, places < each)) for each in places.tolist()]
        far = np.sqrt(knots) if self.objective == "k-means" else knots
        return far * (self.unit or 1.0), shares

    @property
    def _numbers(self) -> Noisy:
        masses = [each.masses for each in (*self.sets, self.one)]
        return Noisy(np.concatenate([np.array(each, dtype=np.float64) for each in masses]), self.noise_scale)

    def _set(self, name: str | None) -> Scored:
        for each in self.sets:
            if name is None or each.name == name:
                return each
        raise ParameterError(
            "name", f"there is no set {name!r}; there are {', '.join(repr(e.name) for e in self.sets)}"
        )

    def _knots(self, name: str | None) -> NDArray[np.float64]:
        return np.array(self._set(name).knots)

    def _weights(self, name: str | None, own: Any) -> NDArray[np.float64]:
        """Weights of the numbers of one set, in the vector of all."""
        return self._placed(self._set(name), own)

    def _placed(self, scored: Scored, own: Any) -> NDArray[np.float64]:
        every = [own if each is scored else np.zeros(len(each.masses)) for each in (*self.sets, self.one)]
        return np.concatenate(every).astype(np.float64)

    def _mean(self, name: str | None, own: Any, *, most: float = 1.0) -> Told | None:
        """The mean over rows of what is `own` to each knot, from 0 to `most`; a share where it says nothing else."""
        every = self._weights(name, np.ones(len(self._set(name).knots)))
        return self._numbers.ratio(self._weights(name, own), every, least=0.0, most=float(most))

    def _ratio(self, name: str | None, other: Scored) -> Told | None:
        above = self._weights(name, self._knots(name))
        return self._numbers.ratio(above, self._placed(other, np.array(other.knots)), least=0.0)

    def _in_unit(self, told: Any) -> Told:
        middle, low, high = (float(each) * (self.unit or 1.0) for each in told)
        return middle, low, high


def _is_possible(scored: Scored, width: int) -> bool:
    knots = np.array(scored.knots)
    return (
        len(knots) == len(scored.masses) >= 2
        and len(scored.centres) > 0
        and all(len(each) == width > 0 for each in scored.centres)
        and bool(np.isfinite(knots).all() and (np.diff(knots) >= 0).all() and knots[0] >= 0 and knots[-1] <= MOST_COST)
        and all(abs(each) < MOST_NUMBERS for each in scored.masses)
    )

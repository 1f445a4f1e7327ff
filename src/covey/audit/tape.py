"""A tape of all that an algorithm asks and is told; when it is played, every answer is the recorded one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.audit.draws import Call, record_calls
from covey.events import Sensitivity
from covey.noise.source import SeededSource, Source, Word


class Diverged(Exception):
    """Something besides released values decided what was asked or answered."""


@dataclass
class Step:
    """One thing that happened. asked: all that is public about it. exact, bound: a statistic and how far it may move.

    kind says what the statistic is: "numbers", "picks" (utilities of candidates), "keys", "lines" (outputs of blocks),
    "nodes" (rows in the nodes of one depth), "cells" (rows by cell), or "" for none. event: steps with the same number
    were paid for together. at: the depth of nodes, or the limit of lines. drawn, calls: what the mechanism itself
    answered, and how it came to it; answer: what the algorithm was told.
    """

    asked: tuple[Any, ...]
    kind: str = ""
    exact: Any = None
    bound: Sensitivity | None = None
    mechanism: Any = None
    event: int = 0
    at: int = 0
    answer: Any = None
    drawn: Any = None
    calls: list[Call] = field(default_factory=list)

    def words(self) -> str:
        number, verb, query, *_ = self.asked
        return f"{verb} {query[0] if isinstance(query, tuple) else query} of curator {number}"


@dataclass(frozen=True)
class Raised:
    """In place of an answer: the mechanism refused."""

    words: str


class Tape:
    """What happened in a run, step by step. With `played`, every answer is the one that tape holds.

    Coins that rows draw (blocks, parts) stay with the rows that both data sets have. `chooses` may put another answer
    in place of a drawn one: a private mechanism bounds the loss of every answer that it can give.
    """

    def __init__(
        self,
        *,
        seed: int,
        played: Tape | None = None,
        chooses: Callable[[Step], Any] | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.queries: list[Any] = []
        self.ended: bytes | str = ""
        self.crashed = False  # whether it ended in an error that is none of Covey's own
        self._seed, self._played = seed, played
        self._rows: dict[int, NDArray[np.int32]] = {}  # that drew coins, by the number of the step
        self._chooses = chooses
        self._numbers = 0

    @property
    def refusal(self) -> str:
        """The words of the error that the run ended in, if it did."""
        return self.ended if isinstance(self.ended, str) else ""

    def coins(self, rows: NDArray[np.int32]) -> Source:
        """A source of coins for rows (d, n): those that the played tape's rows drew at this step too have the same."""
        place = len(self.steps)
        self._rows[place] = rows
        theirs = rows if self._played is None else self._played._rows.get(place, rows)
        return Coins(10**6 * self._seed + place, of=theirs.shape[1], places=matched(rows, theirs))

    def another(self) -> int:
        """A new number, for a curator or an event."""
        self._numbers += 1
        return self._numbers

    def note(self, step: Step) -> Step | None:
        """Keep a step; what the played tape has in its place."""
        expected = self._expected(step)
        self.steps.append(step)
        return expected

    def answer(self, step: Step, draw: Callable[[], Any]) -> Any:
        """What the mechanism draws, or, when a tape is played, what it holds; the mechanism is run in either case."""
        expected = self.note(step)
        error: Exception | None = None
        try:
            with record_calls() as step.calls:
                step.answer = step.drawn = draw()
            if self._chooses is not None and expected is None:
                step.answer = self._chooses(step)
        except Exception as refusal:
            error, step.answer = refusal, Raised(f"{type(refusal).__name__}: {refusal}")
        if expected is not None:
            same = expected.answer == step.answer if error is not None else not isinstance(expected.answer, Raised)
            if not same:
                raise Diverged(f"step {len(self.steps)}, {step.words()}: only one of the two was refused") from error
            step.answer = expected.answer
        if error is not None:
            raise error
        return step.answer

    def end(self, ended: bytes | str) -> None:
        """The whole release, or the words of a refusal: the last thing that must be the same."""
        self.ended = ended
        if self._played is None:
            return
        if len(self.steps) != len(self._played.steps):
            raise Diverged(f"{len(self._played.steps)} steps became {len(self.steps)}")
        if self._played.ended != ended:
            raise Diverged(f"ended differently: {_brief(self._played.ended)} became {_brief(ended)}")

    def _expected(self, step: Step) -> Step | None:
        if self._played is None:
            return None
        place = len(self.steps)
        if place >= len(self._played.steps):
            raise Diverged(f"step {place + 1} is one more: {step.words()}")
        expected = self._played.steps[place]
        if expected.asked != step.asked:
            raise Diverged(
                f"step {place + 1}: {expected.words()} became {step.words()}: {difference(expected.asked, step.asked)}"
            )
        return expected


class Coins:
    """Words for rows: row i has those of row places[i] of another table of `of` rows, or, if that is -1, its own."""

    seeded = True

    def __init__(self, seed: int, *, of: int, places: NDArray[np.int64]) -> None:
        self._shared, self._own = SeededSource(2 * seed), SeededSource(2 * seed + 1)
        self._of, self._places = of, places

    def words(self, count: int, dtype: type[Word]) -> NDArray[Word]:
        if count != len(self._places):
            return self._shared.words(count, dtype)
        shared, own = np.append(self._shared.words(self._of, dtype), dtype(0)), self._own.words(count, dtype)
        return np.where(self._places < 0, own, shared[self._places])


def matched(rows: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.int64]:
    """Where each row is in another table that has the same rows in the same order, but for some; -1 for those."""
    if rows.shape == others.shape:
        return np.arange(rows.shape[1])
    places, there = np.full(rows.shape[1], -1, dtype=np.int64), 0
    few = rows.shape[1] < others.shape[1]
    ours, theirs = rows.T.tolist(), others.T.tolist()
    for here, row in enumerate(ours):
        while few and there < len(theirs) and theirs[there] != row:
            there += 1
        if there < len(theirs) and theirs[there] == row:
            places[here], there = there, there + 1
    return places


def described(thing: Any) -> Any:
    """Everything there is in a public description, as plain data that compare equal only if all of it is equal."""
    if thing is None or isinstance(thing, str | bytes | bool | int | float | Fraction | Enum):
        return repr(thing)  # tells 0.0 from -0.0, and NaN is like NaN
    if isinstance(thing, np.ndarray | np.generic):
        array = np.ascontiguousarray(thing)
        return array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest()
    if isinstance(thing, dict):
        return tuple((described(key), described(value)) for key, value in thing.items())
    if isinstance(thing, tuple | list):
        return type(thing).__name__, tuple(described(each) for each in thing)
    if isinstance(thing, type) or callable(thing):
        return f"{thing.__module__}.{thing.__qualname__}"
    return type(thing).__name__, described(vars(thing)) if hasattr(thing, "__dict__") else repr(thing)


def difference(ours: Any, theirs: Any) -> str:
    """The first place where two descriptions differ."""
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and len(ours) == len(theirs):
        return next(difference(a, b) for a, b in zip(ours, theirs, strict=True) if a != b)
    return f"{str(ours)[:120]} is not {str(theirs)[:120]}"


def _brief(ended: bytes | str) -> str:
    return f"a release of {len(ended)} bytes" if isinstance(ended, bytes) else ended[:200]

"""A curator that is listened to. It is the real one: it pays, reads rows and hands mechanisms their exact statistics.

Only the mechanisms are listened to. What they answer is kept on a tape, or, when one is played, replaced by what it
holds. So the released values are the same on two data sets, and whatever still differs was decided by rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from covey.audit.draws import put
from covey.audit.tape import Step, Tape, described
from covey.events import Sensitivity
from covey.noise.source import Source
from covey.private import covers
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine

VERBS = (
    "reserve",
    "release",
    "release_chain",
    "release_by_key",
    "select",
    "select_several",
    "average_blocks",
    "grow",
    "cover",
    "public_count",
    "on_cells",
    "drop_nearest",
    "project",
    "split",
)


class Watched(Curator):
    """The curator itself, and a tape that runs along. Narrower curators share the tape, with numbers of their own."""

    _tape: Tape
    _number: int

    @classmethod
    def over(cls, curator: Curator, tape: Tape) -> Watched:
        curator.__class__ = cls
        assert isinstance(curator, Watched)
        curator._tape, curator._number = tape, 0
        return curator

    def reserve(self, plan: Any) -> None:
        self._note("reserve", plan)
        super().reserve(plan)

    def release(self, query: Any, mechanism: Any) -> Any:
        return super().release(query, self._listen("release", query, mechanism))

    def release_chain(self, query: Any, mechanism: Any) -> Any:
        return super().release_chain(query, self._listen("release_chain", query, mechanism))

    def release_by_key(self, query: Any, mechanism: Any) -> Any:
        return super().release_by_key(query, self._listen("release_by_key", query, mechanism))

    def select_several(self, query: Any, mechanism: Any, *, times: int) -> list[int]:
        return super().select_several(query, self._listen("select", query, mechanism, times), times=times)

    def average_blocks(self, query: Any, mechanism: Any) -> Any:
        listener = self._listen("average_blocks", query, mechanism)
        source, self._source = self._source, self._coins()
        try:
            return super().average_blocks(query, listener)
        finally:
            self._source = source

    def grow(self, tree: Any, mechanism: Any, **how: Any) -> Any:
        return super().grow(tree, self._listen("grow", tree, mechanism), **how)

    def cover(self, query: Any, mechanism: Any) -> Any:
        self._listen("cover", query, mechanism)
        asked, tape = (self._number, "pick of a cover", described(query), described(mechanism)), self._tape
        real = covers.Coverage

        class Listening(real):  # type: ignore[misc, valid-type]
            def pick(self, source: Source) -> Any:
                left = self.weights > 0
                cells = zip(map(tuple, self._cells[:, left].T.tolist()), self.weights[left].tolist(), strict=True)
                step = Step(asked, "cells", dict(cells), mechanism=mechanism)
                return tape.answer(step, lambda: real.pick(self, source))

        with put(covers, "Coverage", Listening):
            return super().cover(query, mechanism)

    def public_count(self) -> int:
        count = super().public_count()
        self._note("public_count", count)
        return count

    def on_cells(self, grid: Any) -> Curator:
        self._note("on_cells", grid)
        return super().on_cells(grid)

    def drop_nearest(self, centres: Any, how_many: int) -> Curator:
        narrower = super().drop_nearest(centres, how_many)
        engine: Any = narrower._engine
        cells, counts = engine.cells(engine._grid)
        table = dict(zip(cells.tolist(), counts.tolist(), strict=True))
        asked = (self._number, "drop_nearest", described(np.asarray(centres)), how_many)
        self._tape.note(Step(asked, "cells", table))
        return narrower

    def project(self, projection: Any) -> Curator:
        self._note("project", projection)
        return super().project(projection)

    def split(self, parts: int, plan: Any) -> list[Curator]:
        self._note("split", (parts, plan))
        source, self._source = self._source, self._coins()
        try:
            found = super().split(parts, plan)
        finally:
            self._source = source
        for part in found:
            part._source = source
        return found

    def _narrowed(self, engine: Any, domain: Any) -> Any:
        narrower: Any = super()._narrowed(engine, domain)
        narrower._number = self._tape.another()
        return narrower

    def _coins(self) -> Source:
        blocks = self._engine.rows() if isinstance(self._engine, MemoryEngine) else []
        return self._tape.coins(np.concatenate([np.empty((self.domain.dimension, 0), np.int32), *blocks], axis=1))

    def _note(self, verb: str, what: Any) -> None:
        self._tape.note(Step((self._number, verb, described(what))))

    def _listen(self, verb: str, query: Any, mechanism: Any, *more: Any) -> Listener:
        self._tape.queries.append(query)
        asked = (self._number, verb, described(query), described(mechanism), *more)
        return Listener(self._tape, asked, mechanism, self._source)


class Listener:
    """A mechanism that is listened to: the curator pays for it, hands it the statistic, and gets the tape's answer."""

    def __init__(self, tape: Tape, asked: tuple[Any, ...], mechanism: Any, noise: Source) -> None:
        self._tape, self._asked, self._mechanism, self._noise = tape, asked, mechanism, noise
        self._event = tape.another()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def event(self) -> Any:
        return self._mechanism.event()

    def add(self, exact: Any, sensitivity: Sensitivity, source: Source) -> Any:
        step = self._step("numbers", np.array(exact), sensitivity, np.shape(exact))
        return self._tape.answer(step, lambda: self._mechanism.add(exact, sensitivity, source))

    def add_chain(self, exact: Any, sensitivity: Sensitivity, source: Source) -> Any:
        step = self._step("numbers", np.array(exact), sensitivity, np.shape(exact))
        return self._tape.answer(step, lambda: self._mechanism.add_chain(exact, sensitivity, source))

    def add_by_key(self, keys: Any, counts: Any, sensitivity: Sensitivity, source: Source) -> Any:
        table = {tuple(np.atleast_1d(key).tolist()): int(count) for key, count in zip(keys, counts, strict=True)}
        step = self._step("keys", table, sensitivity)
        return self._tape.answer(step, lambda: self._mechanism.add_by_key(keys, counts, sensitivity, source))

    def pick(self, utilities: Any, sensitivity: Sensitivity, source: Source) -> Any:
        step = self._step("picks", np.array(utilities), sensitivity, np.shape(utilities))
        step.event = self._tape.another()  # every pick is paid for by itself
        return self._tape.answer(step, lambda: self._mechanism.pick(utilities, sensitivity, source))

    def average(self, table: Any, limit: int, source: Source) -> Any:  # noqa: ARG002 - `source` holds rows' coins
        step = self._step("lines", np.array(table), None, np.shape(table), limit)
        step.at = limit
        return self._tape.answer(step, lambda: self._mechanism.average(table, limit, self._noise))

    def blind(self, most: int, *, depth: int, neighbours: Any) -> bool:
        return bool(self._mechanism.blind(most, depth=depth, neighbours=neighbours))

    def splits(self, counts: Any, *, depth: int, neighbours: Any, source: Source) -> Any:
        step = self._step("nodes", np.array(counts), None, depth, np.shape(counts))
        step.at = depth
        return self._tape.answer(
            step, lambda: self._mechanism.splits(counts, depth=depth, neighbours=neighbours, source=source)
        )

    def _step(self, kind: str, exact: Any, bound: Sensitivity | None, *more: Any) -> Step:
        return Step((*self._asked, bound, *more), kind, exact, bound, self._mechanism, self._event)

"""Rows in memory, as lattice integers: numpy arrays, pandas and polars frames, Arrow tables, files that fit.

The first question reads the table once and keeps it as 32-bit lattice coordinates; each later question is one pass
over those, in cache-sized chunks, on all cores. Sums are int64, so the split into chunks and threads never shows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import chain, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from covey.noise.source import Source
from covey.private.engine import Sealed
from covey.private.lattice import to_lattice
from covey.private.tables import Table
from covey.public import Domain
from covey.queries.base import KeyedQuery, Query, Rows
from covey.queries.blocks import BlockCentres
from covey.queries.counts import OccupiedCells
from covey.queries.grid import Grid
from covey.queries.projection import Projection

CHUNK_VALUES = 2**15  # coordinates of a chunk: a quarter of a megabyte as float64, so that a pass stays in the cache
MOST_CHUNK_ROWS = 2**16  # sums of a chunk stay far below 2^53
SORTED_ROWS = 2**22  # keys that are sorted at a time

T = TypeVar("T")
S = TypeVar("S")


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def on_all_cores(work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """work(item) for every item, in any order, with as many in flight as there are cores; one BLAS thread each."""
    items = iter(items)
    first = list(islice(items, 2))
    if len(first) < 2 or cores() == 1:  # not worth a pool
        yield from map(work, chain(first, items))
        return
    items = chain(first, items)
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(cores()) as pool:
        running: set[Future[T]] = set()
        for item in items:
            running.add(pool.submit(work, item))
            if len(running) > cores():
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in done)
        yield from (each.result() for each in running)


def in_order(work: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """work(item) for every item, on all cores, in the order of the items, so that a seed repeats."""
    numbered = on_all_cores(lambda each: (each[0], work(each[1])), enumerate(items))
    return [answer for _, answer in sorted(numbered, key=lambda each: each[0])]


def _first_of_each(ascending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each value of a sorted array, which has any, begins."""
    return np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]]))


class MemoryEngine(Sealed):
    """Holds rows as lattice integers, read when they are first needed, and answers exactly."""

    def __init__(self, table: Table, domain: Domain) -> None:
        def read() -> list[Rows]:
            pieces = table.pieces(domain.columns if table.names is not None else None)
            return in_order(lambda piece: to_lattice(piece(), domain), pieces)

        self._read: Callable[[], list[Rows]] | None = read
        self._domain = domain
        self._blocks: list[Rows] = []

    @classmethod
    def of_rows(cls, read: Callable[[], list[Rows]], domain: Domain) -> MemoryEngine:
        """An engine of lattice rows that `read` will hand over, (d, n) blocks."""
        engine = cls.__new__(cls)
        engine._read, engine._domain, engine._blocks = read, domain, []
        return engine

    def _load(self) -> list[Rows]:
        if self._read is not None:
            self._blocks = self._read()
            self._read = None  # the raw values are not needed again
        return self._blocks

    def _chunks(self, least: int = 64) -> Iterator[Rows]:
        step = max(least, min(MOST_CHUNK_ROWS, CHUNK_VALUES // self._domain.dimension))
        for block in self._load():
            for start in range(0, block.shape[1], step):
                yield block[:, start : start + step]

    def _shares(self, least: int) -> list[list[Rows]]:
        chunks = list(self._chunks(least))
        return [chunks[i :: cores()] for i in range(cores()) if chunks[i :: cores()]]

    def total(self, query: Query) -> NDArray[np.int64]:
        def add_up(share: list[Rows]) -> NDArray[np.int64]:
            out = np.zeros(query.size, dtype=np.int64)
            for rows in share:
                query.accumulate(rows, out)
            return out

        total = np.zeros(query.size, dtype=np.int64)
        least = getattr(query, "rows_at_once", 256)  # a public wish: matrix products of many columns like more rows
        for part in on_all_cores(add_up, self._shares(least)):
            total += part
        return total

    def totals_by_key(self, query: KeyedQuery) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        def count(group: list[Rows]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            keys = np.concatenate([query.keys(rows) for rows in group])
            keys.sort()
            first = _first_of_each(keys)
            return keys[first], np.diff(first, append=len(keys))

        chunks = list(self._chunks())
        if not chunks:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        many = min(-(-len(chunks) // cores()), max(1, SORTED_ROWS // chunks[0].shape[1]))
        groups = [chunks[i : i + many] for i in range(0, len(chunks), many)]
        keys, counts = (np.concatenate(part) for part in zip(*on_all_cores(count, groups), strict=True))
        order = np.argsort(keys, kind="stable")  # quick on a few sorted runs
        keys = keys[order]
        first = _first_of_each(keys)
        return keys[first], np.add.reduceat(counts[order], first)

    def sorted_keys(self, query: KeyedQuery) -> NDArray[np.int64]:
        """The key of every row, ascending: quicker than their totals where few rows share a key."""
        chunks = list(self._chunks())
        ends = np.cumsum([rows.shape[1] for rows in chunks], dtype=np.int64).tolist()
        keys = np.empty(ends[-1] if ends else 0, dtype=np.int64)

        def write(place: tuple[int, Rows]) -> None:
            end, rows = place
            keys[end - rows.shape[1] : end] = query.keys(rows)

        for _ in on_all_cores(write, zip(ends, chunks, strict=True)):
            pass
        keys.sort()
        return keys

    def cells(self, grid: Grid) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.totals_by_key(OccupiedCells(grid))

    def block_outputs(self, query: BlockCentres, source: Source) -> NDArray[np.int64]:
        blocks = self._load()
        rows = np.concatenate(blocks, axis=1) if blocks else np.empty((self._domain.dimension, 0), dtype=np.int32)
        count = rows.shape[1]
        block = (source.words(count, np.uint64) % np.uint64(query.blocks)).astype(np.int64)
        return query.outputs(rows, block, source.words(count, np.uint64))

    def projected(self, projection: Projection) -> MemoryEngine:
        """The rows' images under a public projection."""

        def read() -> list[Rows]:
            return in_order(projection.apply, self._chunks())

        return MemoryEngine.of_rows(read, projection.target)

    def split(self, parts: int, source: Source) -> list[MemoryEngine]:
        """Every row in one of `parts` engines, by a coin of its own that does not depend on any value."""
        blocks = self._load()
        parted: list[list[Rows]] = [[] for _ in range(parts)]
        for block in blocks:
            part = (source.words(block.shape[1], np.uint64) % np.uint64(parts)).astype(np.int64)
            order = np.argsort(part, kind="stable")
            ends = np.cumsum(np.bincount(part, minlength=parts))
            for i, rows in enumerate(np.split(block[:, order], ends[:-1], axis=1)):
                parted[i].append(rows)
        return [MemoryEngine.of_rows(lambda mine=mine: mine, self._domain) for mine in parted]  # type: ignore[misc]

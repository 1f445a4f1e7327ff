"""Work on all cores: threads, because numpy and Arrow let go of Python's lock while they compute. Sees no rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import chain, islice
from typing import TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
S = TypeVar("S")

_LIMITED = ContextVar("limited", default=False)  # whether BLAS is kept to one thread already


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context for many short matrix products: sharing each out among threads costs more than it saves.

    Within another one it does nothing: to ask the libraries takes longer than many a step does.
    """
    if _LIMITED.get():
        yield
        return
    before = _LIMITED.set(True)
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield
    finally:
        _LIMITED.reset(before)


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
    with one_blas_thread(), ThreadPoolExecutor(cores()) as pool:
        running: set[Future[T]] = set()
        for item in items:
            running.add(pool.submit(copy_context().run, work, item))  # with the caller's settings of numpy
            if len(running) > cores():
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in done)
        yield from (each.result() for each in running)


def in_order(work: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """work(item) for every item, on all cores, in the order of the items, so that a seed repeats."""
    numbered = on_all_cores(lambda each: (each[0], work(each[1])), enumerate(items))
    return [answer for _, answer in sorted(numbered, key=lambda each: each[0])]


def side_by_side(first: Callable[[], S], second: Callable[[], T], *, worth: bool) -> tuple[S, T]:
    """What two pieces of work give that need nothing of each other; one after the other if threads are not worth it."""
    if not worth or cores() == 1:
        return first(), second()
    with one_blas_thread(), ThreadPoolExecutor(1) as pool:
        other = pool.submit(copy_context().run, second)
        return first(), other.result()

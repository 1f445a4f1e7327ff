"""Rows of people as pairs of a person and a row, put in order and brought together. What is kept of them: cap.md.

Everything here is a function of the set of pairs: the order in which they come, and how they are cut up, do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from covey.post.threads import in_order, on_all_cores
from covey.private.engines.base import Sealed

AT_ONCE = 6 * 2**20  # different pairs of a person and a row of two columns that a pass holds; of wider rows, fewer
SHARE = 2**17  # pairs, about, that are put in order at once: they stay in the cache
Words = NDArray[np.uint64]
Cut = TypeVar("Cut", "Group", "Ranked")


class Columns(Sealed):
    """Arrays as long as one another, the last of which has rows of values as its columns."""

    def _arrays(self) -> list[NDArray[Any]]:
        return list(vars(self).values())

    def at(self, places: NDArray[np.int64]) -> Self:
        return type(self)(*(each.take(places, axis=-1) for each in self._arrays()))

    def between(self, start: int, end: int) -> Self:
        return type(self)(*(each[..., start:end] for each in self._arrays()))

    @classmethod
    def joined(cls, some: Sequence[Self]) -> Self:
        return cls(*(np.concatenate(each, axis=-1) for each in zip(*(one._arrays() for one in some), strict=True)))


@dataclass(frozen=True, repr=False)
class Group(Columns):
    """Rows of the same person, lattice point and flag (or all of a person's), told once, with how often they occur."""

    low: Words
    high: Words
    row: Words
    rank: Words  # of the first copy
    zone: NDArray[np.uint8]  # the number of the zone that such a row lies in, 0 for none
    copies: NDArray[np.int64]
    values: NDArray[np.float64]  # (d, n) raw values, one row of each group

    def merged(self) -> Group:
        """Equal pairs together, by person and rank: they have equal ranks, others have not, but for an accident."""
        ordered = self.at(ascending(self.rank, self.low))
        again = ~begins(ordered.low, ordered.rank)
        if not again.any():
            return ordered
        fresh = begins(ordered.low, ordered.high, ordered.row)
        accident = (again & fresh).any()
        if accident:
            ordered = self.at(ascending(self.row, self.high, self.low))
            fresh = begins(ordered.low, ordered.high, ordered.row)
        first = np.flatnonzero(fresh)
        once = replace(ordered.at(first), copies=np.add.reduceat(ordered.copies, first))
        return once.at(ascending(once.rank, once.low)) if accident else once


@dataclass(frozen=True, repr=False)
class Ranked(Columns):
    """Single rows, each with its place in its person's order."""

    low: Words
    high: Words
    rank: Words
    row: Words
    copy: Words
    values: NDArray[np.float64]

    def smallest(self, most: int, other: Ranked | None) -> Ranked:
        """The first `most` of every person, of these and the others, by person; quicker if these alone are so."""
        joined = self if other is None else Ranked.joined([other, self])
        order = np.arange(len(self.low)) if other is None else ascending(joined.rank, joined.low)
        low, high, rank = (each.take(order) for each in (joined.low, joined.high, joined.rank))
        of_one = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
        if not ((low[1:] > low[:-1]) | of_one & (rank[1:] > rank[:-1])).all():
            order = ascending(joined.copy, joined.row, joined.rank, joined.high, joined.low)
            low, high = joined.low.take(order), joined.high.take(order)
        first = np.flatnonzero(begins(low, high))
        within = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
        stay = order[within < most]
        return joined.at(stay)


def ascending(*words: Words) -> NDArray[np.int64]:
    """The stable order by the last of these words, then by the one before it, and so on, as of `np.lexsort`.

    By 16 bits at a time, which are sorted by counting: several times as quick as words of 64.
    """
    shifts = [np.uint64(bits) for bits in (0, 16, 32, 48)]
    return np.lexsort([(each >> shift).astype(np.uint16) for each in words for shift in shifts])


def begins(*columns: Words) -> NDArray[np.bool_]:
    """Where an entry differs from the one before it; the first one does."""
    found = np.ones(len(columns[0]), dtype=np.bool_)
    np.not_equal(columns[0][1:], columns[0][:-1], out=found[1:])
    for each in columns[1:]:
        found[1:] |= each[1:] != each[:-1]
    return found


def grouped(units: Callable[[], Iterator[Callable[[], Group]]]) -> Iterator[list[Group]]:
    """All of the groups, in lots of bounded size: as many passes as that takes, each for a range of first ranks.

    Parts of one group may stand in several of a lot, which `shares` brings together.
    """
    low, width = 0, 2**64
    while low < 2**64:
        high = min(2**64, low + width)
        held: list[Group] = []
        count = 0
        for group in on_all_cores(lambda unit: unit(), units()):
            held.append(_between(group, low, high))
            count += len(held[-1].rank)
            most = AT_ONCE * 8 // (6 + len(group.values))  # beside its columns, a pair has six numbers
            while count > most:
                held = in_order(complete, shares(held))
                count = sum(len(each.rank) for each in held)
                if count > most // 2 and high - low > 1:
                    high = low + (high - low) // 2
                    held = [_between(each, low, high) for each in held]
                    count = sum(len(each.rank) for each in held)
                else:
                    break
        if held:
            yield held
        low, width = high, 2 * (high - low)  # a crowded range says nothing about the next


def shares(groups: Sequence[Group]) -> list[list[Group]]:
    """Groups cut up by the first bits of people's names, by which they are in order: a person is in one share."""
    count = sum(len(each.low) for each in groups)
    number = 1 << min(8, (count // SHARE).bit_length())
    return [list(each) for each in zip(*(cut(group, number) for group in groups), strict=True)]


def cut(some: Cut, number: int) -> list[Cut]:
    """What the first bytes of people's names put in order, in so many shares."""
    ends = np.searchsorted(first_byte(some.low), np.arange(number + 1) * (256 // number))
    return [some.between(*each) for each in pairwise(ends.tolist())]


def complete(share: list[Group]) -> Group:
    return Group.joined(share).merged()


def first_byte(names: Words) -> NDArray[np.uint8]:
    return (names >> np.uint64(56)).astype(np.uint8)


def _between(group: Group, low: int, high: int) -> Group:
    if low == 0 and high == 2**64:
        return group
    return group.at(np.flatnonzero((group.rank >= np.uint64(low)) & (group.rank <= np.uint64(high - 1))))

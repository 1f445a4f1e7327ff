"""Rows -> integers: the total map between the rows and everything else. Proof: lattice.md.

No floating-point number passes from here to the noise. Whatever a row holds (NaN, infinities, -0.0, numbers far outside
the domain, integers of any size, missing values) it gets a lattice point, and a flag that says whether it had to be
moved there from outside; nothing ever raises because of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.private.engines.base import Sealed
from covey.public import Domain
from covey.queries.base import Flags, Numbers, Rows
from covey.queries.magnitudes import RawDomain, raw_rows

FARTHEST = 2.0**26  # of a ball's radius; a coordinate beyond is moved here first, so that squares stay finite


CHUNK_VALUES = 2**15  # that are converted at once: they stay in the cache


@dataclass(frozen=True, repr=False)
class Block(Sealed):
    """Lattice rows (d, n), and which of them were outside the bounds before they were moved to the lattice.

    zone : of each row, the number of the zone that its person was kept by; None where people were not kept as a whole.
    """

    rows: Rows
    outside: Flags
    zone: Numbers | None = None

    def at(self, places: Any) -> Block:
        """Some of the rows: a slice, their places, or which to take."""
        return Block(self.rows[:, places], self.outside[places], None if self.zone is None else self.zone[places])

    def mapped(self, change: Callable[[Rows], Rows]) -> Block:
        """The rows' images; outside is who was, and people's zones are theirs."""
        return Block(change(self.rows), self.outside, self.zone)


def to_block(values: NDArray[np.float64], domain: Domain, *, by_person: bool = False) -> Block:
    """Lattice points and flags of (d, n) numbers, one column per row; see `snapped`. In chunks, which never show.

    Without bounds (`RawDomain`) they are the bits of the numbers, and nothing is outside. by_person : whether a line
    follows that is no coordinate, but of each row the number of its person's zone (`Table.by_person`).
    """
    if by_person:
        return replace(to_block(values[:-1], domain), zone=values[-1].astype(np.uint8))
    if len(values) != domain.dimension:  # a line that is no coordinate, or a table of other columns
        raise ParameterError("data", f"has {len(values)} lines, and there are {domain.dimension} columns")
    if isinstance(domain, RawDomain):
        return Block(raw_rows(values), np.zeros(values.shape[1], dtype=np.bool_))
    block = Block(np.empty(values.shape, dtype=np.int32), np.zeros(values.shape[1], dtype=np.bool_))
    step = max(256, CHUNK_VALUES // max(1, len(values)))
    chunks = [slice(start, start + step) for start in range(0, values.shape[1], step)]
    if domain.ball:
        left: list[Any] = chunks
    else:
        spare = np.empty((len(values), min(step, values.shape[1])))
        found = [_quickly(values[:, some], domain, block.rows[:, some], spare) + some.start for some in chunks]
        others = np.concatenate([np.empty(0, dtype=np.int64), *found])
        left = [others[start : start + step] for start in range(0, len(others), step)]
    for some in left:
        block.rows[:, some], block.outside[some] = snapped(values[:, some], domain)
    return block


def _quickly(values: NDArray[np.float64], domain: Domain, out: Rows, spare: NDArray[np.float64]) -> NDArray[np.int64]:
    """What `snapped` says of rows between a box's bounds, in fewer steps and in place; where those are that are not."""
    outside = np.empty(0, dtype=np.int64)
    with np.errstate(all="ignore"):
        scaled = np.subtract(values, np.array(domain.middle)[:, None], out=spare[:, : values.shape[1]])
        scaled /= np.array(domain.half)[:, None]
        if not (scaled.min() >= -1.0 and scaled.max() <= 1.0):  # a NaN is neither
            outside = np.flatnonzero(~(np.abs(scaled) <= 1.0).all(axis=0))
            scaled[:, outside] = 0.0
        scaled *= domain.limit if domain.scale is None else np.array(domain.scale)[:, None] * domain.limit
        np.rint(scaled, out=scaled)
        out[:] = scaled
    return outside


def is_missing(values: NDArray[np.float64]) -> Flags:
    """Which numbers say nothing, and go to the middle: what a null, an empty cell or one that is no number became."""
    return np.isnan(values)


def to_lattice(values: NDArray[np.float64], domain: Domain) -> Rows:
    """Lattice points of (d, n) numbers, for whoever does not ask which were outside."""
    return to_block(values, domain).rows


def snapped(values: NDArray[np.float64], domain: Domain) -> tuple[NDArray[np.float64], Flags]:
    """Lattice points of (d, n) numbers, one column per row. Total: NaN goes to the middle, infinities to the edge.

    A row is outside if it has a NaN, or lies beyond the bounds by more than half a step of the lattice: rounding is not
    moving. Each column of the result depends on the same column of `values` alone, whatever the batch: only elementwise
    IEEE operations, in a fixed order.
    """
    limit = domain.limit if domain.scale is None else np.array(domain.scale)[:, None] * domain.limit
    edge = 1.0 + 0.5 / limit
    with np.errstate(all="ignore"):
        scaled = values - np.array(domain.middle)[:, None]
        scaled /= np.array(domain.half)[:, None]
        inside = (np.abs(scaled) <= edge).all(axis=0)  # a NaN is not
        np.copyto(scaled, 0.0, where=is_missing(scaled))
        if not domain.ball:
            np.clip(scaled, -1.0, 1.0, out=scaled)
            scaled *= limit
            np.rint(scaled, out=scaled)
            return scaled, ~inside
        np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
        squared = np.zeros(scaled.shape[1])
        for coordinate in scaled:  # one by one: the order of a reduction could depend on the batch
            squared += coordinate * coordinate
        norm = np.sqrt(squared)
        inside &= norm <= edge
        scaled *= domain.limit / np.maximum(norm, 1.0)
        np.trunc(scaled, out=scaled)  # toward the middle, so that the norm holds in integers
        return scaled, ~inside

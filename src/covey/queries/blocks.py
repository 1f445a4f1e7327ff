"""Plain k-means in each of many random blocks of rows (sample and aggregate). Proof: blocks.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.public import Domain
from covey.queries.base import Rows


@dataclass(frozen=True, kw_only=True)
class BlockCentres:
    """k ordinary k-means centres of each of `blocks` blocks, in a canonical order: blocks x (k·d) lattice integers.

    Not additive: `outputs` needs all rows at once, and is called behind the door only. One person touches one block.
    """

    domain: Domain
    k: int
    blocks: int
    rounds: int = 10
    name: str = "centres of each block"

    def __post_init__(self) -> None:
        if self.k < 1 or self.blocks < 1 or self.rounds < 0:
            raise ParameterError("blocks", "needs at least one block, one centre and no negative number of rounds")

    def outputs(self, rows: Rows, block: NDArray[np.int64], shuffle: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The centres of every block. `block` says where a row belongs; `shuffle` puts a block's rows in random order.

        A block's centres are computed from its own rows alone: elementwise, and by sums that run over its rows in its
        own order; what other blocks hold never shows, not even in the last bit.
        """
        d = self.domain.dimension
        order = np.lexsort((shuffle, block))
        block = block[order]
        values = rows[:, order].astype(np.float64)
        counts = np.bincount(block, minlength=self.blocks)
        first = np.cumsum(counts) - counts
        centres = np.zeros((self.k, d, self.blocks))
        filled = np.flatnonzero(counts)
        for j in range(self.k):  # a random row each; a block with fewer than k rows repeats them
            centres[j][:, filled] = values[:, first[filled] + j % counts[filled]]
        for _ in range(self.rounds):
            nearest = self._nearest(values, block, centres)
            place = block * self.k + nearest
            size = np.bincount(place, minlength=self.blocks * self.k).reshape(self.blocks, self.k).T
            for axis in range(d):
                total = np.bincount(place, weights=values[axis], minlength=self.blocks * self.k)
                mean = total.reshape(self.blocks, self.k).T / np.maximum(size, 1)
                np.copyto(centres[:, axis], mean, where=size > 0)
        return self._in_order(np.rint(centres).astype(np.int64))

    def _nearest(
        self, values: NDArray[np.float64], block: NDArray[np.int64], centres: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        nearest = np.zeros(len(block), dtype=np.int64)
        best = np.full(len(block), np.inf)
        for j, centre in enumerate(centres):
            distance = np.zeros(len(block))
            for value, coordinate in zip(values, centre, strict=True):
                distance += np.square(value - coordinate[block])
            closer = distance < best
            np.copyto(best, distance, where=closer)
            np.copyto(nearest, j, where=closer)
        return nearest

    def _in_order(self, centres: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each block's centres sorted by their coordinates, first axis first, and laid out as one line per block."""
        by_block = centres.transpose(2, 0, 1)
        order = np.lexsort(tuple(by_block[:, :, axis] for axis in reversed(range(by_block.shape[2]))), axis=-1)
        return np.take_along_axis(by_block, order[:, :, None], axis=1).reshape(self.blocks, -1)

"""For the owner's eyes only: centres WITHOUT privacy. Nothing made here may be published.

The studio asks for them after its owner switch was turned on, and marks everything that is published afterwards.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.post.kmeans import weighted_kmeans
from covey.post.random import public_rng
from covey.post.starts import plus_plus
from covey.private.engines.base import Sealed
from covey.private.lattice import to_lattice
from covey.private.tables.base import Table
from covey.private.tables.frames import open_table
from covey.public import Domain

MOST_ROWS = 100_000
STARTS = 4


class OwnersView(Sealed):
    """Plain k-means of at most 100,000 evenly spaced rows: not private, for the person who holds the rows anyway."""

    def __init__(self, data: Any, domain: Domain, *, most: int = MOST_ROWS) -> None:
        self._domain = domain
        self._rows = _some_rows(open_table(data), domain, most)
        self.nonprivate_centres = lru_cache(maxsize=64)(self._nonprivate_centres)

    def _nonprivate_centres(self, k: int) -> list[list[float]]:
        """k centres in user units; the middle of the domain, k times, if there are no rows."""
        edge = np.ones(self._domain.dimension)
        if not len(self._rows):
            return self._domain.from_lattice(np.zeros((k, self._domain.dimension))).tolist()  # type: ignore[no-any-return]
        ones = np.ones(len(self._rows))
        starts = plus_plus(self._rows, ones, k, starts=STARTS, rng=public_rng(0))
        found = weighted_kmeans(self._rows, ones, k=k, lower=-edge, upper=edge, starts=starts)
        return self._domain.from_lattice(found.centres * self._domain.limit).tolist()  # type: ignore[no-any-return]


def _some_rows(table: Table, domain: Domain, most: int) -> NDArray[np.float64]:
    """Every s-th row, scaled to [-1, 1], with s the least power of two that leaves at most `most`."""
    kept: list[NDArray[np.float64]] = []
    first, step, held = 0, 1, 0  # rows whose number is a multiple of `step` are kept
    for piece in table.pieces(domain.columns if table.names is not None else None):
        numbers = piece()
        kept.append((to_lattice(numbers[:, -first % step :: step], domain) / domain.limit).T)
        first += numbers.shape[1]
        held += len(kept[-1])
        while held > most:
            kept, step = [np.concatenate(kept)[::2]], 2 * step
            held = len(kept[0])
    return np.concatenate(kept) if kept else np.empty((0, domain.dimension))

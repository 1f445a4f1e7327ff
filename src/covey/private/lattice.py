"""Rows -> integers: the total map between the rows and everything else. Proof: lattice.md.

No floating-point number passes from here to the noise. Whatever a row holds (NaN, infinities, -0.0, numbers far outside
the domain, integers of any size, missing values) it gets a lattice point; nothing ever raises because of a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covey.public import Domain

FARTHEST = 2.0**26  # of a ball's radius; a coordinate beyond is moved here first, so that squares stay finite


CHUNK_VALUES = 2**15  # that are converted at once: they stay in the cache


def to_lattice(values: NDArray[np.float64], domain: Domain) -> NDArray[np.int32]:
    """Lattice points of (d, n) numbers, one column per row; see `snapped`. In chunks, which never show."""
    rows = np.empty(values.shape, dtype=np.int32)
    step = max(256, CHUNK_VALUES // max(1, len(values)))
    for start in range(0, values.shape[1], step):
        rows[:, start : start + step] = snapped(values[:, start : start + step], domain)
    return rows


def snapped(values: NDArray[np.float64], domain: Domain) -> NDArray[np.int32]:
    """Lattice points of (d, n) numbers, one column per row. Total: NaN goes to the middle, infinities to the edge.

    Each column of the result depends on the same column of `values` alone, whatever the batch: only elementwise
    IEEE operations, in a fixed order.
    """
    with np.errstate(all="ignore"):
        scaled = values - np.array(domain.middle)[:, None]
        scaled /= np.array(domain.half)[:, None]
        np.copyto(scaled, 0.0, where=np.isnan(scaled))
        if not domain.ball:
            np.clip(scaled, -1.0, 1.0, out=scaled)
            scaled *= domain.limit
            np.rint(scaled, out=scaled)
            return np.asarray(scaled, dtype=np.int32)
        np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
        squared = np.zeros(scaled.shape[1])
        for coordinate in scaled:  # one by one: the order of a reduction could depend on the batch
            squared += coordinate * coordinate
        scaled *= domain.limit / np.maximum(np.sqrt(squared), 1.0)
        np.trunc(scaled, out=scaled)  # toward the middle, so that the norm holds in integers
        return np.asarray(scaled, dtype=np.int32)

"""How many rows are in parts of counted boxes, by the law of sizes of clusters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from covey.post.distances import Floats
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import EDGE
from covey.post.errors.sizes import Sizes, _Sums

_ROUNDING = 1e-9  # of a box


def in_parts(boxes: CountedBoxes, share: Floats, on_edges: Iterable[Floats] = ()) -> Sizes:
    """The number of rows in a share of each box, as `cluster_sizes` counts a cluster that its borders cut so.

    The variance is that of the noise of boxes of which any is in it, by the square of the share, and of where the rows
    of boxes are of which a part is. A part that only rounding leaves or takes is none: in a heavy box, where the rest
    of its rows are would count as if it were a half. on_edges : the shares if all rows of the boxes along one edge of
    the domain sit on it, for each edge: rows outside the bounds were moved there, so that they are all on one side of a
    border together, however many boxes it cuts.
    """
    share = np.where(share < _ROUNDING, 0.0, np.where(share > 1 - _ROUNDING, 1.0, share))
    which, sums = np.flatnonzero(share > 0), _Sums(boxes, 1)
    sums.add(which, np.zeros(len(which), dtype=np.intp), share[which])
    edge = boxes.at_edge
    moved = sum(abs(float(boxes.counts[edge] @ (each[edge] - share[edge]))) for each in on_edges)
    uneven = np.maximum(sums.uneven(), 0.0) + (EDGE * moved) ** 2
    squares = np.square(sums.noise + uneven)
    return Sizes(sums.sizes, sums.noise, uneven, squares / np.maximum(sums.fourth, 1e-30 * squares + 1e-300))

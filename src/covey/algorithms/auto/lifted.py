"""The coreset of a tree in a subspace: its leaves in all columns, and how far their rows are from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.auto.synopsis import Leaves, inside
from covey.algorithms.kit import LatticeCoreset
from covey.post.distances import add_up, nearest
from covey.post.spreads import told
from covey.post.subspace import Subspace, bells_of_clusters, rows_in_boxes
from covey.public import Domain

Floats = NDArray[np.float64]

BELLS = 2  # times that rows are placed by the bells of their clusters, and these found from where the rows are
MOST_APART = 1.25  # times what the moments leave of the square for rows about their centres: a cost to be trusted
MOST_CLIPPED = 0.03  # of the rows' mean square: what may lie beyond the radius where costs are to be trusted


@dataclass(frozen=True, eq=False)
class Seen:
    """What the noisy moments told: about `middle`, in a box of half-widths `half` of the subspace."""

    middle: Floats
    half: Floats
    size: float
    doubt: float  # the standard deviation of the noise in the scatter
    lost: float  # the mean square of rows beyond the radius, where they were clipped


def lifted(
    leaves: Leaves,
    weights: Floats,
    label: NDArray[np.intp],
    centres: Floats,
    subspace: Subspace,
    seen: Seen,
    domain: Domain,
) -> tuple[LatticeCoreset, dict[str, Any]]:
    """The leaves in all columns with their spreads, and whether costs are to be trusted.

    A leaf's rows are part of a bell about the middle of its cluster (`label`), whose weights stood out of the noise. A
    leaf may be as wide as the box of all; so that its rows are not taken to be anywhere in it, they are first part of
    the one bell of all rows, whose widths the moments told. Outside the subspace rows are where the centre of their
    cluster is. All rows together have a noisy mean square about the middle: that of the moments, and what clipping took
    off. The leaves hold their part of it, their own places and the width of each; the rest is spread outside the
    subspace, the same for every row as far as anybody knows.

    By the moments alone, the square about centres that are means is that about the middle without the centres' own.
    Where leaves say much more, they are too wide to tell which centre their rows are nearest to.
    """
    box = {"lower": leaves.lower, "upper": leaves.upper, "half": seen.half}
    points, along = rows_in_boxes(**box, middles=np.zeros_like(seen.half), deviations=np.sqrt(subspace.variances))
    for _ in range(BELLS):
        mean, deviations = bells_of_clusters(points, along, weights, label, count=len(centres))
        points, along = rows_in_boxes(**box, middles=mean[label], deviations=deviations[label])
    within = along.sum(axis=1)
    away = centres - seen.middle
    beyond = (away - away @ subspace.axes @ subspace.axes.T)[label]
    own = np.square(points).sum(axis=1) + np.square(beyond).sum(axis=1) + within
    square_of_all = subspace.scatter + seen.lost
    outside = max(square_of_all - float(leaves.counts @ own) / seen.size, 0.0)
    places = inside(seen.middle + points @ subspace.axes.T + beyond, domain)
    square = np.square(places - centres[nearest(places, centres)]).sum(axis=1)
    # A count's noise moves the sum of squares in the leaves, and what is left for the outside by the opposite.
    moved = leaves.counted.scales * (square + within + outside - (own if outside else 0))
    counts = np.sqrt(2 * np.square(moved).sum())
    noise = float(np.hypot(counts, seen.size * seen.doubt))
    cost = float(leaves.counts @ (square + within + outside))
    rows = np.maximum(add_up(label, weights, len(centres)), 1e-9)
    about = square_of_all - float(rows @ np.square(away).sum(axis=1)) / float(rows.sum())
    notes = told(
        {
            "of rows in zones, what was not kept may lie elsewhere": leaves.counted.keys is not None,
            "many rows are far from all others": seen.lost > MOST_CLIPPED * square_of_all,
            "boxes are so wide that they hold rows of several centres": cost > MOST_APART * seen.size * about,
        },
        cost=cost / domain.limit**2,
        noise=noise / domain.limit**2,
    )
    return LatticeCoreset(places, leaves.counts, spreads=within + outside), notes

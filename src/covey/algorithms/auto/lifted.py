"""The coreset of a tree in a subspace: its leaves in all columns, and how far their rows are from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.auto.synopsis import Leaves, inside
from covey.algorithms.kit import LatticeCoreset
from covey.post.distances import nearest
from covey.post.spreads import told
from covey.post.subspace import Subspace, bells_of_clusters, rows_in_boxes
from covey.public import Domain

Floats = NDArray[np.float64]

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

    A leaf's rows are part of a bell about the middle of its cluster (`label`), whose weights stood out of the noise;
    outside the subspace they are where the centre of that cluster is. All rows together have a noisy mean
    square about the middle: that of the moments, and what clipping took off. The leaves hold their part of it, their
    own places and the width of each; the rest is spread outside the subspace, the same for every row as far as
    anybody knows.
    """
    mean, deviations = bells_of_clusters(leaves.lower, leaves.upper, weights, label, count=len(centres))
    points, within = rows_in_boxes(
        leaves.lower, leaves.upper, half=seen.half, middles=mean[label], deviations=deviations[label]
    )
    away = centres - seen.middle
    beyond = (away - away @ subspace.axes @ subspace.axes.T)[label]
    own = np.square(points).sum(axis=1) + np.square(beyond).sum(axis=1) + within
    whole = subspace.scatter + seen.lost
    outside = max(whole - float(leaves.counts @ own) / seen.size, 0.0)
    places = inside(seen.middle + points @ subspace.axes.T + beyond, domain)
    square = np.square(places - centres[nearest(places, centres)]).sum(axis=1)
    # A count's noise moves the sum of squares in the leaves, and what is left for the outside by the opposite.
    counts = leaves.scale * np.sqrt(2 * np.square(square + within + outside - (own if outside else 0)).sum())
    noise = float(np.hypot(counts, seen.size * seen.doubt))
    cost = float(leaves.counts @ (square + within + outside))
    notes = told(
        {"many rows are far from all others": seen.lost > MOST_CLIPPED * whole},
        cost=cost / domain.limit**2,
        noise=noise / domain.limit**2,
    )
    return LatticeCoreset(places, leaves.counts, spreads=within + outside), notes

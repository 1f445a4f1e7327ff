"""Boxes far from all others that noise alone may have made: a centre there serves nobody. Free: it never sees rows.

Of very many empty boxes some stand out. Near clusters that does no harm; far from them one such box draws a centre to
where nobody is, and where clusters are tight it costs more than all rows do.
"""

import numpy as np
from numpy.typing import NDArray

from covey.post.cells import Cells
from covey.post.distances import Floats, add_up, squared_lengths, squares_to_nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.kmeans import weighted_kmeans
from covey.post.starts import plus_plus

CHANCE = 0.005  # empty boxes expected to have as much, of as many as fill the domain: with fewer, one has rows
TREE_CHANCE = 0.1  # the same of a tree, whose boxes noise of its own has cut: of as many as it has
_FIRST = 0.15  # of e^-l at the height sqrt(2·variance·l + (scale·l)²): how often sums of Laplace noise exceed it
_LEAST_CERTAIN = (2, 8)  # certain boxes for each centre, and in all: with fewer, doubtful ones are all there is
_ENOUGH_CERTAIN = 4  # with fewer, they must need every centre; with fewer of a tree, all stay
_NEED = 3.0  # times what a centre's rows cost on average: more, without any one of the centres, is a need of it
_HARM, _TREE_HARM = 1.0, 3.0  # of what a centre's rows cost on average: a doubtful box that costs less stays


def without_phantoms(
    boxes: CountedBoxes, some: NDArray[np.bool_], k: int, rng: np.random.Generator, *, tree: bool = False
) -> NDArray[np.bool_]:
    """Which of some boxes to look for k centres in: not those that are far from all certain ones and may be noise.

    A box is certain if hardly ever an empty one of its size has as much. The certain ones are clustered first; a
    doubtful box whose count x squared distance from those centres is small does no harm and stays. Of the others those
    stay that, together with what is around them, noise hardly explains: if r of them are kept, at most r x CHANCE would
    be expected of noise (Benjamini and Hochberg 1995). With fewer than 2k certain boxes, or 8, all stay: too little is
    known. With fewer than 4k they do where a centre can be spared: it is not taken from rows, and may find some.
    tree : whether the boxes are leaves that were not cut by the counts that fill them. Then an empty one is one of as
    many as there are, not of all of its size, and with fewer than 4k certain ones all stay.
    """
    chance, least, harm = CHANCE, _LEAST_CERTAIN[0], _HARM
    if tree:
        chance, least, harm = TREE_CHANCE, _ENOUGH_CERTAIN, _TREE_HARM
    among = len(some) if tree else np.prod(2 / boxes.widths, axis=1)
    alone = _expected(boxes.counts, boxes.variances, among, scale=boxes.scales.min())
    certain = some & (alone < chance)
    doubtful = np.flatnonzero(some & ~certain)
    if certain.sum() < max(least * k, _LEAST_CERTAIN[1]) or doubtful.size == 0:
        return some
    points, counts, edge = boxes.points[certain], boxes.counts[certain], np.ones(boxes.dimension)
    starts = plus_plus(points, counts, k, starts=2, rng=rng)
    found = weighted_kmeans(points, counts, k=k, lower=-edge, upper=edge, starts=starts, coarse=512, polish=1, swaps=k)
    cost = found.cost + float(counts @ squared_lengths(boxes.widths[certain])) / 12  # of rows all over a box
    away = squares_to_nearest(boxes.points[doubtful], found.centres)
    if certain.sum() < _ENOUGH_CERTAIN * k and _least_missed(points, counts, found.centres) < _NEED * cost / k:
        return some
    far = doubtful[boxes.counts[doubtful] * away > harm * cost / k]
    if far.size == 0:
        return some
    expected = np.minimum(alone, _around(boxes, certain, tree=tree))[far]
    order = np.argsort(expected, kind="stable")
    few = np.flatnonzero(expected[order] <= chance * np.arange(1, len(far) + 1))
    kept = some.copy()
    kept[far[order[few[-1] + 1 if few.size else 0 :]]] = False
    return kept


def _expected(counts: Floats, variances: Floats, among: Floats | float, *, scale: float) -> Floats:
    """How many of so many empty boxes have such a count by noise alone: a sum of Laplace noise of this scale.

    With e^-l for the tail, a count y has l from 2·variance·l + (scale·l)² = y²: normal for wide sums, Laplace for few.
    """
    y = scale * np.maximum(counts, 0.0)
    logs = (np.sqrt(np.square(variances) + np.square(y)) - variances) / scale**2
    return np.asarray(_FIRST * among * np.exp(-logs))


def _least_missed(points: Floats, counts: Floats, centres: Floats) -> float:
    """What it costs to do without the one of several centres that is missed least."""
    label, near, next_near = Cells.of_points(points, counts).two_nearest(centres)
    return float(add_up(label, counts * (next_near - near), len(centres)).min())


def _around(boxes: CountedBoxes, certain: NDArray[np.bool_], *, tree: bool = False) -> Floats:
    """The least of `_expected` of the wider boxes around each box, halves of halves of the domain, that have none
    that is certain, times the number of their sizes: what several boxes side by side hold is less often noise than
    what each does, but the least of several is more often small."""
    sizes, least = 0, np.full(len(boxes.counts), np.inf)
    parts, d, scale = 2, boxes.dimension, boxes.scales.min()
    while (narrow := np.flatnonzero((boxes.widths < 1.5 / parts).all(axis=1))).size:
        place = np.clip(((boxes.points[narrow] + 1) / 2 * parts).astype(np.intp), 0, parts - 1)
        _, wide = np.unique(np.ravel_multi_index(tuple(place.T), (parts,) * d), return_inverse=True)
        many = int(wide.max()) + 1
        counts, variances = (add_up(wide, each[narrow], many) for each in (boxes.counts, boxes.variances))
        expected = _expected(counts, variances, many if tree else float(parts) ** d, scale=scale)
        expected[add_up(wide, certain[narrow].astype(np.float64), many) > 0] = np.inf
        least[narrow] = np.minimum(least[narrow], expected[wide])
        parts, sizes = 2 * parts, sizes + 1
    return sizes * least

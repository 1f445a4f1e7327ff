"""Rounds of k-median on cells of either sign, and swaps that free them from a poor start. Internal to post/."""

import numpy as np
from numpy.typing import NDArray

from covey.post.cells import Cells
from covey.post.distances import Floats, add_up, add_up_each, blocks

Box = tuple[Floats, Floats]

_STEPS = 4  # of every centre towards its median, for each time that the cells choose their centres
_PATIENCE = 4  # a start is done when this many rounds together were not worth while
_SAME = 1e-13  # a cell this near (positions are within [-2, 2]) coincides with the centre
_SITES = 32  # places looked at for a swap, at least
_TRIALS = 3  # swaps tried in earnest
_TRIAL_ROUNDS = 6
_SWAP_WORTH = 1e-4  # a swap must lower the cost by this fraction


def kmedian(cells: Cells, centres: Floats, *, box: Box, rounds: int, worth: float) -> tuple[Floats, float]:
    """The best centres (k x d) that rounds from these pass through, and their cost.

    A round gives every cell to its nearest centre and moves the centres towards the medians of their cells. No move
    raises the signed cost of its cluster, but with negative weights choosing anew may: so the best round counts.
    Ends when _PATIENCE rounds together lowered the cost by less than the fraction `worth`.
    """
    best, lowest = centres, np.inf
    earlier = np.full(_PATIENCE, np.inf)
    for done in range(rounds + 1):
        label, near = nearest_cells(cells, centres)
        cost = float(cells.weights @ near)
        if cost < lowest - cells.rounding:
            best, lowest = centres, cost
        gain = earlier[done % _PATIENCE] - lowest
        earlier[done % _PATIENCE] = lowest
        if done == rounds or not gain > worth * abs(lowest):
            break
        moved = centres
        for _ in range(_STEPS):
            moved = towards_medians(cells, moved, label, box=box)
        centres = onto_cells(cells, moved, label, box=box)
        if np.array_equal(centres, best):
            break
    return best, lowest


def towards_medians(cells: Cells, centres: Floats, label: NDArray[np.intp], *, box: Box) -> Floats:
    """One step of every centre towards the geometric median of the cells that carry its label.

    Weiszfeld's step, with the correction of Vardi and Zhang (2000) where a centre lies on a cell, for weights of either
    sign. The pull R is the sum of weight x direction over the other cells, A the sum of weight / distance over those
    of positive weight, and e the net weight of the cells that the centre lies on. The step is R/A, shortened by the
    factor 1 - e/|R|, and none if e >= |R|: there the centre is a median already.

    It never raises the cluster's cost: a positive term is bounded from above by a parabola that touches it, a negative
    one by its tangent, and the step goes to the lowest point of their sum. The parabola is round, so that clipping to
    the box keeps this true.
    """
    k, d = centres.shape
    sums, held = np.zeros((d + 1, k)), np.zeros(k)
    for part in blocks(len(cells), width=d):
        mine, share = label[part], cells.weights[part]
        gap = _gaps(cells, centres, part, mine)
        far = _lengths(gap)
        on = far <= _SAME
        if on.any():
            held += add_up(mine, np.where(on, share, 0.0), k)
            share, far = np.where(on, 0.0, share), np.where(on, 1.0, far)
        share = np.divide(share, far, out=far)
        gap *= share
        sums += add_up_each(mine, [*gap, np.maximum(share, 0.0, out=share)], k)
    pull, grip = sums[:-1], sums[-1]
    strength = np.sqrt(np.square(pull).sum(axis=0))
    free = (grip > 0) & (strength > held) & (strength > 0)
    factor = np.where(free, 1.0 - held / np.where(strength > 0, strength, 1.0), 0.0) / np.where(free, grip, 1.0)
    return np.clip(centres + (factor * pull).T, *box)


def onto_cells(cells: Cells, centres: Floats, label: NDArray[np.intp], *, box: Box) -> Floats:
    """The centres, moved onto the nearest of their cells where that lowers the cluster's cost.

    A median that is one of the points is approached ever more slowly by small steps; this is the last one.
    """
    k = len(centres)
    far = _distances(cells, centres, label)
    least, own, near = np.full(k, np.inf), label.take(cells.heavy), far.take(cells.heavy)
    np.minimum.at(least, own, near)
    nearest = cells.heavy[near == least.take(own)][::-1]
    site = centres.copy()
    site[label[nearest]] = np.clip(cells.positions[:, nearest].T, *box)  # of equals the first, which comes last here
    paid = cells.weights * far, cells.weights * _distances(cells, site, label)
    before, after = add_up_each(label, paid, k)
    return np.where((after < before)[:, None], site, centres)


def swap(cells: Cells, centres: Floats, cost: float, *, box: Box, limit: int, worth: float) -> tuple[Floats, float]:
    """Move the centre that is missed least to where a centre helps most, while that lowers the cost."""
    for _ in range(limit if len(centres) > 1 and len(cells) else 0):
        spare, sites = _spare_and_sites(cells, centres)
        best, lowest = centres, np.inf
        for site in np.clip(sites[:_TRIALS], *box):
            trial = centres.copy()
            trial[spare] = site
            trial, trial_cost = kmedian(cells, trial, box=box, rounds=_TRIAL_ROUNDS, worth=worth)
            if trial_cost < lowest:
                best, lowest = trial, trial_cost
        if not lowest < cost - _SWAP_WORTH * abs(cost):
            break
        centres, cost = best, lowest
    return centres, cost


def nearest_cells(cells: Cells, centres: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest centre of each cell, and the distance to it (computed by differences: no cancellation)."""
    label = cells.nearest(centres)
    return label, _distances(cells, centres, label)


def _distances(cells: Cells, centres: Floats, label: NDArray[np.intp]) -> Floats:
    far = np.empty(len(cells))
    for part in blocks(len(cells), width=len(cells.positions)):
        far[part] = _lengths(_gaps(cells, centres, part, label[part]))
    return far


def _gaps(cells: Cells, centres: Floats, part: slice, mine: NDArray[np.intp]) -> Floats:
    """From its centre to each cell: d x cells."""
    gap = centres.T.take(mine, axis=1)
    return np.subtract(cells.positions[:, part], gap, out=gap)


def _lengths(gap: Floats) -> Floats:
    """Of each column, to the bit as a sum along it."""
    total = np.square(gap[0])
    for along in gap[1:]:
        total += np.square(along)
    return np.sqrt(total, out=total)


def _spare_and_sites(cells: Cells, centres: Floats) -> tuple[int, Floats]:
    """The centre whose removal costs least, and cells, those where a new centre saves most first.

    The cells are the dearest few of each cluster; of more than _SITES clusters, one each.
    """
    label, near, next_near = cells.two_nearest(centres)
    near, next_near = (np.sqrt(np.maximum(squares, 0.0)) for squares in (near, next_near))
    missed = add_up(label, cells.weights * (next_near - near), len(centres))
    order = np.lexsort((-cells.weights * near, label))
    first = np.searchsorted(label[order], np.arange(len(centres)))
    rank = np.arange(len(order)) - first[label[order]]
    sites = cells.positions[:, order[rank < -(-_SITES // len(centres))]].T
    norms = np.square(sites).sum(axis=1)[:, None]
    saved = np.zeros(len(sites))
    for part in blocks(len(near), width=len(sites)):
        x = cells.positions[:, part]
        squares = norms - 2.0 * (sites @ x) + np.square(x).sum(axis=0)
        saved += np.maximum(near[part] - np.sqrt(np.maximum(squares, 0.0)), 0.0) @ cells.weights[part]
    return int(missed.argmin()), sites[np.argsort(-saved, kind="stable")]

"""Lloyd's algorithm on cells of either sign, and swaps that free it from a poor start. Internal to post/."""

import numpy as np
from numpy.typing import NDArray

from covey.post.cells import Cells
from covey.post.distances import Floats, add_up, blocks

Box = tuple[Floats, Floats]

_STILL = 1e-4  # a start is done when no centre moves by more than this fraction of the cells' standard deviation
_PATIENCE = 4  # ... or when this many rounds together were not worth while
_LIGHT = 1e-12  # net weights up to this fraction of the heaviest cell count as rounding: the centre stays
_SITES = 32  # places looked at for a swap, at least
_TRIALS = 3  # swaps tried in earnest
_TRIAL_ROUNDS = 10
_TRIAL_WORTH = 1e-3
_SWAP_WORTH = 1e-4  # a swap must lower the cost by this fraction


def lloyd(cells: Cells, starts: Floats, *, box: Box, rounds: int, worth: float) -> tuple[Floats, Floats]:
    """The best centres that each of starts x k x d passes through, and their costs.

    A start ends when its centres stand still, or when _PATIENCE rounds together lowered its cost by less than the
    fraction `worth`: with negative weights, centres may circle for ever, and a round may raise the cost.
    """
    still = _STILL * np.sqrt(cells.scatter / max(cells.mass.sum(), _LIGHT))
    best, lowest = starts.copy(), np.full(len(starts), np.inf)
    earlier = np.full((len(starts), _PATIENCE), np.inf)
    running, centres = np.arange(len(starts)), starts
    moved = np.full(len(starts), np.inf)
    for done in range(rounds + 1):
        sums = cells.sums(centres)
        costs = cells.costs(centres, sums)
        better = costs < lowest[running] - cells.rounding
        best[running[better]], lowest[running[better]] = centres[better], costs[better]
        gain = earlier[running, done % _PATIENCE] - lowest[running]
        earlier[running, done % _PATIENCE] = lowest[running]
        go = (moved > still) & (gain > worth * np.abs(lowest[running]))
        if done == rounds or not go.any():
            break
        running, before = running[go], centres[go]
        centres = _update(before, sums[go], box)
        moved = np.sqrt(np.square(centres - before).sum(axis=2)).max(axis=1)
    return best, lowest


def swap(cells: Cells, centres: Floats, cost: float, *, box: Box, limit: int) -> Floats:
    """Move centres (of k x d) that are missed least to where a centre helps most, while that lowers the cost.

    No chance is involved. Rescues small far clusters that no start has found.
    """
    for _ in range(limit if len(centres) > 1 and len(cells) else 0):
        trials, costs = lloyd(cells, _trials(cells, centres, box), box=box, rounds=_TRIAL_ROUNDS, worth=_TRIAL_WORTH)
        first = int(costs.argmin())
        if not costs[first] < cost - _SWAP_WORTH * abs(cost):
            break
        centres, cost = trials[first], float(costs[first])
    return centres


def _trials(cells: Cells, centres: Floats, box: Box) -> Floats:
    """A few changed copies of the centres: one centre in each of three places, or, of many centres, several at once."""
    spare, sites = _spare_and_sites(cells, centres)
    sites = np.clip(sites, *box)
    several = min(len(centres) // _SITES, len(sites))
    if several < 2:
        trials = np.repeat(centres[None], min(_TRIALS, len(sites)), axis=0)
        trials[:, spare[0]] = sites[:_TRIALS]
        return trials
    trials = np.repeat(centres[None], _TRIALS, axis=0)
    for trial, count in zip(trials, (1, max(2, several // 4), several), strict=True):
        trial[spare[:count]] = sites[:count]
    return trials


def _spare_and_sites(cells: Cells, centres: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The centres, those whose removal costs least first, and cells, those where a new centre saves most first.

    The cells are the dearest few of each cluster; of more than _SITES clusters, one each.
    """
    label, near, next_near = cells.two_nearest(centres)
    missed = add_up(label, cells.weights * (next_near - near), len(centres))
    order = np.lexsort((-cells.weights * near, label))
    first = np.searchsorted(label[order], np.arange(len(centres)))
    rank = np.arange(len(order)) - first[label[order]]
    sites = cells.positions[:, order[rank < -(-_SITES // len(centres))]].T
    norms = np.square(sites).sum(axis=1)[:, None]
    saved = np.zeros(len(sites))
    for part in blocks(len(near), width=len(sites)):
        x = cells.positions[:, part]
        distance = norms - 2.0 * (sites @ x) + np.square(x).sum(axis=0)
        saved += np.maximum(near[part] - distance, 0.0) @ cells.weights[part]
    return np.argsort(missed, kind="stable"), sites[np.argsort(-saved, kind="stable")]


def _update(centres: Floats, sums: Floats, box: Box) -> Floats:
    """The mean of each cluster, clipped to the box, where the net weight is positive; else the centre stays."""
    net = sums[:, :, -1:]
    heavy = net > _LIGHT
    means = np.clip(sums[:, :, :-1] / np.where(heavy, net, 1.0), *box)
    return np.where(heavy, means, centres)

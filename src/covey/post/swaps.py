"""The best of many places, some of them given, and small moves of those found. Free: it never sees rows.

Costs are signed sums over weights of either sign, exactly those of `cost`: a change is made only if it lowers that sum,
so that every search ends, whatever the weights are. Internal to what is published.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from covey.post.cells import Cells
from covey.post.coarsen import coarsen
from covey.post.distances import Floats, Objective, add_up, blocks, nearest
from covey.post.medians import towards_medians

MOST_CELLS = 4096  # that costs are summed over in a search
MOST_AT_ONCE = 1024  # places that all others are exchanged with; of more, some stand for their neighbours
_NEIGHBOURS = 32  # places about each chosen one that are looked at where some stood for others
_ROUNDS = 10
_RANDOM = 1 << 23  # places x cells x chosen: how much random starts may take
_WORTH = 1e-12  # of all absolute weight: a change that lowers the cost by less is rounding
_STEPS = (0.1, 1e-4)  # of a centre that moves, the first and the last, in half-widths of the domain
_MOVES = 60  # rounds of moves, at most
_FEW_COLUMNS = 4  # in more, centres move towards their means and medians alone

Numbers = NDArray[np.intp]
Onto = Callable[[Floats], Floats]  # the nearest places where a centre may be; nan where there is none


def cells_of(points: Floats, weights: Floats) -> Cells:
    """Weighted points, the heaviest of weight 1, or of very many as many buckets of neighbours."""
    counts, heaviest = weights != 0, float(np.abs(weights).max(initial=0.0)) or 1.0
    cells = Cells.of_points(points[counts], weights[counts] / heaviest)
    return cells.merged(MOST_CELLS) if len(cells) > 2 * MOST_CELLS else cells


def choose(
    cells: Cells,
    places: Floats,
    *,
    given: Floats,
    new: int,
    objective: Objective,
    starts: Iterable[Numbers],
    tries: int,
    rng: np.random.Generator,
) -> Numbers:
    """Which `new` different places serve the cells best together with those that are given: their numbers.

    From a greedy choice, from each of `starts` and from up to `tries` random ones, where that is quick: the best
    exchange of one chosen place for another is made while there is one that lowers the cost.
    """
    if len(places) <= MOST_AT_ONCE:
        search = Search(cells, places, given, objective)
        work = max(1, len(places) * len(cells) * new)
        drawn = (rng.choice(len(places), new, replace=False) for _ in range(min(tries, _RANDOM // work)))
        found = [search.exchanged(start) for start in (search.greedy(new), *starts, *drawn)]
        return min(found, key=search.cost)
    heads = spread_out(places, max(MOST_AT_ONCE // 2, 2 * new))
    chosen = np.unique(np.concatenate([heads, *starts]))
    chosen = chosen[_chosen_of(cells, places, chosen, given=given, new=new, objective=objective)]
    for _ in range(_ROUNDS):
        near = np.unique(np.concatenate([heads, *(_nearest_places(places, each) for each in chosen)]))
        search = Search(cells, places[near], given, objective)
        better = near[search.exchanged(np.searchsorted(near, chosen))]
        if set(better) == set(chosen):
            break
        chosen = better
    return chosen


def _chosen_of(
    cells: Cells, places: Floats, some: Numbers, *, given: Floats, new: int, objective: Objective
) -> Numbers:
    search = Search(cells, places[some], given, objective)
    return search.exchanged(search.greedy(new))


def spread_out(places: Floats, many: int) -> Numbers:
    """The numbers of some places far from one another, each near to others that it stands for; all, if they are few."""
    if len(places) <= many:
        return np.arange(len(places))
    bucket = coarsen(places, np.ones(len(places)), limit=many)
    count = int(bucket.max()) + 1
    size = np.maximum(add_up(bucket, np.ones(len(places)), count), 1.0)
    middle = np.stack([add_up(bucket, column, count) / size for column in places.T], axis=1)
    order = np.lexsort((np.square(places - middle[bucket]).sum(axis=1), bucket))
    found = order[np.flatnonzero(np.diff(bucket[order], prepend=-1))]
    if len(found) >= many:
        return found
    rest = np.setdiff1d(np.arange(len(places)), found)  # equal places fill few buckets
    return np.concatenate([found, rest[: many - len(found)]])


def _nearest_places(places: Floats, which: int) -> Numbers:
    far = np.square(places - places[which]).sum(axis=1)
    return np.argpartition(far, _NEIGHBOURS)[: _NEIGHBOURS + 1]


class Search:
    """What cells pay for each of many places, and exchanges of places on that table."""

    def __init__(self, cells: Cells, places: Floats, given: Floats, objective: Objective) -> None:
        self._weights = cells.weights
        points = cells.positions.T
        self._paid = paid(points, places, objective)
        self._given = paid(points, given, objective).min(axis=0, initial=np.inf)
        self._worth = _WORTH * float(cells.mass.sum())

    def cost(self, chosen: Numbers) -> float:
        return float(np.minimum(self._paid[chosen].min(axis=0), self._given) @ self._weights)

    def greedy(self, new: int) -> Numbers:
        """One place after the other, each where it helps most."""
        near, chosen = self._given, np.empty(new, dtype=np.intp)
        for i in range(new):
            costs = np.empty(len(self._paid))
            for part in blocks(len(costs), width=len(near)):
                costs[part] = np.minimum(self._paid[part], near) @ self._weights
            costs[chosen[:i]] = np.inf
            chosen[i] = costs.argmin()
            near = np.minimum(near, self._paid[chosen[i]])
        return chosen

    def exchanged(self, chosen: Numbers) -> Numbers:
        """The choice after the best exchange of one place, again and again while it lowers the cost."""
        chosen, cost = chosen.copy(), self.cost(chosen)
        for _ in range(10 * len(chosen) + 100):
            costs = self._after(chosen)
            costs[chosen] = np.inf
            place, out = np.unravel_index(costs.argmin(), costs.shape)
            if not costs[place, out] < cost - self._worth:
                break
            chosen[out], cost = place, float(costs[place, out])
        return chosen

    def _after(self, chosen: Numbers) -> Floats:
        """The cost after each exchange: places x chosen. A cell whose place goes has the new one, or its second."""
        table = np.vstack([self._given, self._paid[chosen]])
        label, each = table.argmin(axis=0), np.arange(table.shape[1])
        near = table[label, each]
        table[label, each] = np.inf
        second = table.min(axis=0)
        mine = (label[:, None] == np.arange(1, len(table))).astype(np.float64)
        costs = np.empty((len(self._paid), len(chosen)))
        for part in blocks(len(costs), width=len(near)):
            new = np.minimum(self._paid[part], near)
            lost = (np.minimum(self._paid[part], second) - new) * self._weights
            costs[part] = (new @ self._weights)[:, None] + lost @ mine
        return costs


def settle(cells: Cells, centres: Floats, *, given: Floats, objective: Objective, onto: Onto) -> Floats:
    """The centres (k x d, in [-1, 1]^d) after moves to where they may be, each of which lowers the cost.

    A centre tries the mean or median of its cells, half of the way, and steps along each axis, all of them brought to
    the nearest place where it may be. Steps are halved when none helps.
    """
    x, w = cells.positions.T, cells.weights
    worth, step = _WORTH * float(cells.mass.sum()), _STEPS[0]
    away = np.vstack([np.eye(x.shape[1]), -np.eye(x.shape[1])])[: 2 * x.shape[1] if x.shape[1] <= _FEW_COLUMNS else 0]
    centres = centres.copy()
    served = paid(x, given, objective).min(axis=0, initial=np.inf)
    for _ in range(_MOVES):
        aims = _aims(cells, centres, given, objective)
        trials = np.concatenate(
            [aims[:, None], (aims + centres)[:, None] / 2, centres[:, None] + step * away], axis=1
        ).clip(-1, 1)
        trials = onto(trials.reshape(-1, x.shape[1])).reshape(trials.shape)
        now, moved = paid(x, centres, objective), False
        for i in range(len(centres)):
            others = np.minimum(np.delete(now, i, axis=0).min(axis=0, initial=np.inf), served)
            tried = trials[i][np.isfinite(trials[i]).all(axis=1)]
            costs = np.minimum(paid(x, tried, objective), others) @ w
            if len(tried) and costs.min() < np.minimum(now[i], others) @ w - worth:
                centres[i], moved = tried[costs.argmin()], True
                now[i] = paid(x, centres[i : i + 1], objective)[0]
        step = step if moved else step / 2
        if step < _STEPS[1]:
            break
    return centres


def _aims(cells: Cells, centres: Floats, given: Floats, objective: Objective) -> Floats:
    """Where each centre would go if it might: the mean of its cells, where their net weight is positive, or a step
    towards their median."""
    everywhere = np.vstack([centres, given])
    label = nearest(cells.positions.T, everywhere)
    if objective == "k-median":
        edge = np.ones(centres.shape[1])
        return towards_medians(cells, everywhere, label, box=(-edge, edge))[: len(centres)]
    k = len(centres)
    sums = np.stack([add_up(label, each, len(everywhere)) for each in cells.adds], axis=1)[:k]
    stays = sums[:, -1:] <= _WORTH * float(cells.mass.sum())
    return np.where(stays, centres, sums[:, :-1] / np.where(stays, 1.0, sums[:, -1:]))


def paid(points: Floats, places: Floats, objective: Objective) -> Floats:
    """What a row at each point pays for each place: places x points."""
    squares = np.square(places).sum(axis=1)[:, None] - 2.0 * (places @ points.T) + np.square(points).sum(axis=1)
    np.maximum(squares, 0.0, out=squares)
    return squares if objective == "k-means" else np.sqrt(squares)

"""What a worker does for `covey bench coverage`: a few fits of one cell, each with a seed of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from covey.bench.coverage import measure
from covey.bench.coverage.measure import Numbers, SiteCosts
from covey.bench.coverage.suite import rows_of
from covey.bench.runner import Answer, Task
from covey.bench.sets import Floats, seed_of
from covey.bench.utility.tasks import best_kmeans, delta_of, plain_kmeans
from covey.fit.fit import fit
from covey.fit.rehearse import reruns
from covey.fit.slider import USUAL_LEVELS, fit_levels
from covey.post.distances import cost, nearest
from covey.post.errors.reruns import Reruns
from covey.post.random import public_rng
from covey.published.coreset.coreset import Coreset
from covey.published.errors import OBJECTIVES
from covey.published.release import Release

BOXES_UP_TO = 4  # columns: beyond, `auto` has no boxes and there are no levels
GRID_UP_TO = 3  # columns: with more, a fit takes a quarter of a minute
BALL = "ball-coreset"
SITES = ("sites", "other sites")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A set, a method and an epsilon. n : of made-up rows in place of the set's own."""

    set: str
    k: int
    method: str
    epsilon: float
    n: int | None
    data: Path | None

    @property
    def rows(self) -> Floats:
        return rows_of(self.set, self.n, self.data)

    @property
    def level(self) -> int:
        """Its place among the levels that a slider usually has."""
        return [each.epsilon for each in USUAL_LEVELS].index(self.epsilon)

    def made(self, seed: int) -> tuple[Release, Coreset]:
        """A release through the public functions, and the coreset that it was made of."""
        if self.method == "levels":
            levels = fit_levels(self.rows, bounds=(-1.0, 1.0), random_state=seed)
            return levels.release(self.level, self.k), levels.coreset(self.level)
        release = fit(
            self.rows,
            k=self.k,
            epsilon=self.epsilon,
            delta=delta_of(len(self.rows)) if self.method == BALL or self.rows.shape[1] > BOXES_UP_TO else None,
            bounds=(-1.0, 1.0),
            algorithm=self.method,
            algorithm_params={} if self.method == BALL else {"keep_synopsis": True},
            random_state=seed,
        )
        return release, Coreset.of(release)


def perform(task: Task, *, data: Path | None) -> Answer:
    """Some fits of a cell: a dictionary of numbers for each. No two cells share a seed."""
    asked = task.parameters
    cell = Cell(data=data, **{name: asked[name] for name in ("set", "k", "method", "epsilon", "n")})
    numbers = range(asked["first"], asked["first"] + asked["many"])
    seeds = (seed_of("coverage", task.kind, cell.set, cell.method, cell.epsilon, each) % 2**31 for each in numbers)
    return {"fits": [KINDS[task.kind](cell, seed, timed=i == 0) for i, seed in enumerate(seeds)]}


def sizes_and_costs(cell: Cell, seed: int, *, timed: bool) -> Numbers:
    """All that a release says without reruns, and if asked for how long that takes."""
    release, coreset = cell.made(seed)
    rows, centres, boxes = cell.rows, np.array(release.centres), coreset.boxes
    label = nearest(rows, centres)
    found = measure.of_sizes(release, label)
    if boxes is None:
        return found | {"flagged": int(flagged(release))} | measure.of_bracket(coreset, centres, rows, "k-means")
    sites, others = (sites_of(what, cell.set, cell.k, rows.shape[1]) for what in SITES)
    found |= measure.of_costs(release, coreset, sites, rows, label)
    true = site_costs(cell.set, cell.n, cell.k, cell.data)
    found |= measure.of_differences(coreset, sites, others, true) | measure.of_ways(coreset, sites, true, len(rows))
    return found | measure.of_doubt(release, boxes, rows) | (measure.spent(boxes, centres) if timed else {})


def flagged(release: Release) -> bool:
    """Whether the certificate says that the coreset's costs are not to be trusted, or that rows were too few for it.

    `not_told` is about the release's own numbers: a coreset without cells tells costs that no release does.
    """
    notes = release.certificate.parameters
    return notes.get("cost_trusted") is not True or bool(notes.get("too_few_rows"))


def places(cell: Cell, seed: int, *, timed: bool) -> Numbers:
    """What needs reruns of the fit on made-up rows."""
    release, coreset = cell.made(seed)
    again: list[Reruns] = []
    taken = measure.seconds(lambda: again.append(reruns_of(release, coreset)))
    centres, best = np.array(release.centres), reference(cell.set, cell.n, cell.k, cell.data)
    settled = plain_kmeans(cell.rows, k=cell.k, first=centres)
    found = measure.of_places(again[0], centres, best, settled, cell.rows)
    return found | ({"seconds_reruns": taken} if timed else {})


def reruns_of(release: Release, coreset: Coreset) -> Reruns:
    """As the release tells it, or its reader by the same reruns."""
    boxes = coreset.boxes
    assert boxes is not None
    found = reruns(boxes, np.array(release.centres), release.objective, release.certificate)
    return Reruns(np.full(len(release.centres), np.nan), None) if found is None else found


@lru_cache(maxsize=2)
def reference(name: str, n: int | None, k: int, data: Path | None) -> Floats:
    """Centres without privacy: the best of ten starts of scikit-learn."""
    return best_kmeans(rows_of(name, n, data), k=k)


@lru_cache(maxsize=4)
def sites_of(what: str, name: str, k: int, dimension: int) -> Floats:
    """As many sites as there are centres, anywhere in the domain: nothing to do with the rows."""
    return public_rng(seed_of(what, name, k)).uniform(-1.0, 1.0, (k, dimension))


@lru_cache(maxsize=2)
def site_costs(name: str, n: int | None, k: int, data: Path | None) -> SiteCosts:
    """What the rows truly pay for both sets of sites."""
    rows = rows_of(name, n, data)
    both = [sites_of(what, name, k, rows.shape[1]) for what in SITES]
    return {each: tuple(cost(rows, np.ones(len(rows)), sites, each) for sites in both) for each in OBJECTIVES}


KINDS: dict[str, Callable[..., Numbers]] = {
    "fits": sizes_and_costs,
    "balls": sizes_and_costs,
    "reruns": places,
}

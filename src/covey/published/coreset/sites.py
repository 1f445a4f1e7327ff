"""Where k centres go that may not be everywhere: allowed and forbidden ground, lists to choose from, places that stand.

STOC 2009 §1.1: a hospital must not be built on a military base. Free: from released numbers and public regions alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from covey.checks import whole_number
from covey.errors import ParameterError
from covey.geo.geojson import Region, find_axes
from covey.geo.ground import Ground
from covey.post.distances import Objective, add_up, nearest
from covey.post.errors.costs import Cost
from covey.post.random import public_rng
from covey.post.starts import uniform_starts
from covey.post.swaps import cells_of, choose, settle, spread_out
from covey.post.threads import one_blas_thread
from covey.published.certificate import reach_of
from covey.published.coreset.answers import (
    MOST_CENTRES,
    Limits,
    bracketed,
    check_centres,
    clustered,
    hidden,
    most_rows,
    released,
    unscaled,
    why_unknown,
)
from covey.published.errors import Known, from_boxes
from covey.published.release import Release

if TYPE_CHECKING:
    from covey.published.coreset.coreset import Coreset

Floats = NDArray[np.float64]
MOST_CANDIDATES = 10_000
FREE_PLACES = 384  # of a coreset's points, and of the ground, that are tried where no list is given


@dataclass(frozen=True, eq=False)
class Task:
    """What a user gave, checked, in the units of the data. k counts the fixed places too.

    usable : the numbers of the candidates that may be built on. axes : the columns of the map, where there is one.
    """

    k: int
    fixed: Floats
    candidates: Floats | None
    usable: NDArray[np.intp]
    ground: Ground | None
    axes: tuple[int, int] | None

    @property
    def new(self) -> int:
        """How many are to be found."""
        return self.k - len(self.fixed)

    def onto(self, points: Floats) -> Floats:
        """Points with their place on the map moved to the nearest one that may be built on; nan where none is found."""
        if self.ground is None or self.axes is None:
            return points
        moved = points.copy()
        moved[:, self.axes] = self.ground.nearest(points[:, self.axes])
        return moved

    def notes(self) -> dict[str, Any]:
        """What limited the search, for a certificate: public."""
        regions = {"allowed": self.ground.allowed, "forbidden": self.ground.forbidden} if self.ground else {}
        said: dict[str, Any] = {f"{name}_polygons": len(each.polygons) for name, each in regions.items() if each}
        said |= {} if self.candidates is None else {"candidates": len(self.candidates)}
        return said | ({"fixed": len(self.fixed)} if len(self.fixed) else {})


def read_task(coreset: Coreset, k: Any, given: Limits) -> Task:
    """Everything is checked here, before any search: places and regions, and that they leave k places at all."""
    number, words = whole_number("k", k, least=1, most=MOST_CENTRES), "are to be chosen"
    stands, listed = (_places(name, given.get(name), coreset) for name in ("fixed", "candidates"))
    stands = np.empty((0, len(coreset.columns))) if stands is None else stands
    if number <= len(stands):
        raise ParameterError("k", f"is {number}, which counts the {len(stands)} fixed places: none is left to find")
    if listed is not None and not number - len(stands) <= len(listed) <= MOST_CANDIDATES:
        raise ParameterError(
            "candidates",
            f"are {len(listed)}, but {number - len(stands)} {words}, of at most {MOST_CANDIDATES:,}",
        )
    usable = np.arange(0 if listed is None else len(listed))
    allowed, forbidden = (
        None if given.get(name) is None else Region.read(given.get(name), name=name)
        for name in ("allowed", "forbidden")
    )
    if allowed is None and forbidden is None:
        return Task(number, stands, listed, usable, None, None)
    axes = find_axes(coreset.columns, given.get("lon"), given.get("lat"))
    ground = Ground(
        allowed,
        forbidden,
        coreset._middle[list(axes)],
        coreset._half[list(axes)],
        reach_of(coreset.certificate.domain)[list(axes)],
    )
    if listed is None:
        _check_ground(ground)
    else:
        usable = usable[ground.holds(listed[:, axes])]
        if len(usable) < number - len(stands):
            raise ParameterError(
                "candidates",
                f"{len(usable)} of {len(listed)} lie where a centre may be, but {number - len(stands)} {words}",
            )
    return Task(number, stands, listed, usable, ground, axes)


def _places(name: str, given: Any, coreset: Coreset) -> Floats | None:
    if given is None:
        return None
    try:
        places = check_centres(given, coreset)
    except ParameterError as error:
        raise ParameterError(name, str(error).removeprefix("centres: ")) from None
    if places.ndim != 2:
        raise ParameterError(name, "must be one list of places (n, d)")
    return places


def _check_ground(ground: Ground) -> None:
    """Refuse regions that leave no place within the bounds."""
    if len(ground.some):
        return
    if ground.allowed is not None and not len(replace(ground, forbidden=None).some):
        raise ParameterError("allowed", "no part of it lies in the bounds of the coreset; is longitude given first?")
    left = "the bounds" if ground.allowed is None else "what is allowed"
    raise ParameterError("forbidden", f"leaves no place: it covers all of {left}")


def sited(coreset: Coreset, objective: Objective, task: Task, *, starts: int, random_state: int | None) -> Release:
    """k centres where they may be, the fixed ones first; the certificate says what they cost, and others would."""
    tries = whole_number("starts", starts, least=1, most=10_000)
    free = clustered(coreset, objective, task.k, starts=tries, random_state=random_state)
    anywhere, given = np.array(free.centres), coreset.scaled(task.fixed)
    rng = public_rng(random_state)

    def chosen(places: Floats, *more: NDArray[np.intp]) -> NDArray[np.intp]:
        return choose(cells, places, given=given, new=task.new, objective=objective, starts=more, tries=tries, rng=rng)

    def onto(points: Floats) -> Floats:
        return coreset.scaled(task.onto(unscaled(coreset, points)))

    notes = task.notes()
    with one_blas_thread():
        cells = cells_of(*_rows(coreset))
        if task.candidates is not None:
            numbers = task.usable[np.sort(chosen(coreset.scaled(task.candidates[task.usable])))]
            notes["numbers"] = numbers.tolist()
            found = task.candidates[numbers]
        else:
            places = onto(_worth_trying(coreset, coreset.scaled(anywhere), task, rng))
            first = chosen(places) if len(given) else chosen(places, np.arange(task.new))
            centres = settle(cells, places[first], given=given, objective=objective, onto=onto)
            found = task.onto(unscaled(coreset, centres))
    centres = np.concatenate([task.fixed, found])
    notes |= _compared(coreset, objective, {"found": centres, "fixed alone": task.fixed, "anywhere": anywhere})
    return released(coreset, objective, centres, _known(coreset, objective, centres, len(given)), constraints=notes)


def _rows(coreset: Coreset) -> tuple[Floats, Floats]:
    """Where the rows are that costs are told of, and how many: of either sign, in [-1, 1]^d."""
    places = coreset.places
    if places is None:
        return coreset.scaled(coreset.points), coreset.weights
    return places.points, places.parts * coreset.weights[places.box]


def _worth_trying(coreset: Coreset, anywhere: Floats, task: Task, rng: np.random.Generator) -> Floats:
    """Where centres may be good, in [-1, 1]^d: the best ones without limits, points of the coreset, some of the ground
    that is left, and enough random ones that there are as many as are to be found."""
    points, weights = coreset.scaled(coreset.points), coreset.weights
    edge, heavy = reach_of(coreset.certificate.domain), weights > 0
    found = [anywhere, uniform_starts(task.new, lower=-edge, upper=edge, rng=rng)]
    if heavy.any():
        found.append(points[heavy][spread_out(points[heavy], FREE_PLACES)])
    if task.ground is not None and task.axes is not None:
        ground = coreset.scaled(_full(coreset, task.ground.some, task.axes))
        found.append(ground[spread_out(ground, FREE_PLACES)])
    return np.concatenate(found)


def _full(coreset: Coreset, places: Floats, axes: tuple[int, int]) -> Floats:
    """Places on the map with all other columns as at the nearest point of the coreset."""
    flat, full = list(axes), np.zeros((len(places), len(coreset.columns)))
    if full.shape[1] > len(flat):
        half = coreset._half[flat]
        full = coreset.points[nearest(places / half, coreset.points[:, flat] / half)]
    full[:, flat] = places
    return full


def _known(coreset: Coreset, objective: Objective, centres: Floats, fixed: int) -> Known:
    """Sizes and errors as of any centres; only that a place which stands is no noise, whoever is near it."""
    scaled = coreset.scaled(centres)
    if coreset.boxes is None:
        sizes = add_up(nearest(coreset.scaled(coreset.points), scaled), coreset.weights, len(centres))
        return Known(np.minimum(sizes, most_rows(coreset)), None, {"errors": why_unknown(coreset)})
    known = from_boxes(coreset.boxes, scaled, coreset.unit(), objective, most=most_rows(coreset))
    if known.errors is None or known.errors.doubtful is None:
        return known
    doubtful = [doubt and i >= fixed for i, doubt in enumerate(known.errors.doubtful)]
    return known._replace(errors=msgspec.structs.replace(known.errors, doubtful=doubtful))


def _compared(coreset: Coreset, objective: Objective, sets: dict[str, Floats]) -> dict[str, Any]:
    """What each set of centres costs, and how much more than those found: [estimate, low, high], null if unknown."""
    sets = {name: each for name, each in sets.items() if len(each)}
    costs = {name: coreset.cost(each, objective=objective, interval=True) for name, each in sets.items()}
    more = {
        name: coreset.cost_difference(each, sets["found"], objective=objective)
        for name, each in sets.items()
        if name != "found"
    }
    return {
        "costs": {name: _ends(cost) for name, cost in costs.items()},
        "more_than_found": {name: _compared_ends(coreset, cost) for name, cost in more.items()},
    }


def _compared_ends(coreset: Coreset, cost: Cost) -> list[float | None]:
    """Of a coreset without cells no error is known: a difference that noise hides is no estimate with that remark."""
    return [None] * 3 if bracketed(coreset) and hidden(cost.why) else _ends(cost)


def _ends(cost: Any) -> list[float | None]:
    return [None if math.isnan(each) else each for each in cost[:3]]

"""`net-coreset`: a private coreset of rings around private centres (Feldman, Fiat, Kaplan, Nissim 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, log
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.grid import from_cells
from covey.algorithms.kit import SIZE_SHARE, LatticeCoreset, Outcome, learn_size
from covey.algorithms.zoned import count_places
from covey.budget.accounting.plan import Plan, split
from covey.checks import Between, Later, OneOf, Whole, whole_number
from covey.errors import ParameterError
from covey.events import exactly
from covey.noise.mechanisms import DiscreteLaplace
from covey.post.cost_error import cost_error, cost_error_at
from covey.post.kmeans import weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.rings import Rings, make_radii, make_rings, rays_in
from covey.post.starts import sphere_packing
from covey.post.tails import tail_of_two
from covey.private.curator import Curator
from covey.public import Domain, Neighbours
from covey.queries.grid import MOST_CELLS, Grid
from covey.queries.intervals import CentreCounts, IntervalCounts
from covey.queries.net import MOST_BOXES, MOST_ROWS, NetSums
from covey.queries.voronoi import nearest

MOST_BLUR = 0.1  # of the net's points: the largest scale of their noise, with the domain from -1 to 1
MOST_RAYS = 2**12
MOST_SLOTS = 2**21
MOST_BASE = 2**13  # centres of a base of several rounds
MOST_RINGS = 200
SLABS = "must be a whole number of slabs per axis, 'printed' for the paper's 16kd, or None"
ERROR = "must be from 0.05 to 1: distances grow by the factor 1 + error"
INNER_FAILURE = 0.05  # the δ of the paper's smallest radius
UNCOUNTED = "rays around a base of centres were counted, and some of their rows may be nearer to another centre"


def net_coreset(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    objective: str = "k-means",
    base: Annotated[str, OneOf("auto", "net", "grid", says="must be 'auto', 'net' or 'grid'")] = "auto",
    c: Annotated[int, Whole(1, MOST_BOXES)] | Annotated[str, OneOf("printed", says=SLABS)] | None = None,
    rounds: Annotated[int, Whole(1, 40)] | None = None,
    base_centres: Annotated[int, Later("at most as many as their rays can be counted")] | None = None,
    error: Annotated[float, Between(0.05, 1, says=ERROR)] = 1.0,
    share: Annotated[float, Between(0.01, 0.99)] = 0.3,
    starts: Annotated[int, Whole(1, 10_000)] = 30,
) -> Outcome:
    """A private coreset for k-means and k-median, and k centres from it.

    1. Base: centres B near all rows. "net": rounds that release the noisy means of nested slabs of equal number, and
       drop the half of the rows nearest to them (§5.1-5.2). "grid": the centres of `grid`.
    2. Around each centre of B, noisy counts of rows in intervals of growing distance on rays (§4.1-4.2).
    3. A noisy number of rows for each centre; its own weight is that number minus the weights around it.

    Guarantee: epsilon-DP under add/remove (4% for the noisy number of rows, from which every size follows) and
    replace-one: `share` of it for B, the rest in two halves for 2 and 3. As printed, the weights around a centre add
    up to its exact number of rows: not private. Step 3 is the correction (queries/intervals.md). The net's noise is c
    times smaller than printed, and holds under add/remove too (queries/net.md).
    Edge cases: "auto" takes the net under replace-one where it is feasible, else the grid. Where the noise of its
    points would exceed a tenth of the domain's half-width, "net" takes the grid too, and the certificate says
    `too_few_rows`, and `rows_needed`: that is known after the charge, so it is never refused.
    """
    design = _Design.of(
        curator.domain,
        k=k,
        base=base,
        c=c,
        rounds=rounds,
        base_centres=base_centres,
        error=error,
        epsilon=epsilon,
        kinds=1 if curator.zones is None else curator.zones.kinds,
    )
    size, left, told = learn_size(curator, epsilon)
    for_base, for_slots, for_totals = split(left, exactly(share), (1 - exactly(share)) / 2, (1 - exactly(share)) / 2)
    slots_noise, totals_noise = DiscreteLaplace(for_slots), DiscreteLaplace(for_totals)
    rows = _certain_rows(curator, size, epsilon)
    t = design.rounds_for(rows, for_base, curator.neighbours)
    if t:
        centres = _net(curator, design, rows, split(for_base, *[1] * t))
    else:
        noise = DiscreteLaplace(for_base)
        curator.reserve(Plan((noise.event(),)))
        centres = from_cells(
            curator,
            k=design.base_centres,
            size=size,
            noise=noise,
            theta=10.0,
            starts=starts,
            public_rng=public_rng,
            objective=objective,
        ).centres
    curator.reserve(Plan((slots_noise.event(), totals_noise.event())))
    around = _around(curator, centres, design, size, slots_noise, totals_noise)
    coreset = around.coreset
    lower, upper = curator.domain.corners
    cluster = weighted_kmedian if objective == "k-median" else weighted_kmeans
    found = cluster(
        coreset.points,
        coreset.weights,
        k=k,
        lower=lower,
        upper=upper,
        starts=np.stack([sphere_packing(k, lower=lower, upper=upper, rng=public_rng) for _ in range(starts)]),
    )
    chosen: dict[str, object] = {"base": "net", "c": design.c, "rounds": t} if t else {"base": "grid"}
    if base == "net" and not t:
        needed = ceil(design.rows_needed(design.rounds or 1, for_base, curator.neighbours))
        chosen |= {"c": design.c, "too_few_rows": True, "rows_needed": needed}
    notes = around.notes(found.centres, error=error, limit=curator.domain.limit)
    chosen |= {**notes, "share": share, **told}
    by_zone = around.by_zone
    return Outcome(found.centres, found.sizes, chosen, coreset=coreset, not_told=UNCOUNTED, counted_up=by_zone)


def _net(curator: Curator, design: _Design, rows: int, epsilons: tuple[Fraction, ...]) -> NDArray[np.float64]:
    """The bi-criteria centres: each round's net of what is left, then half of that leaves (§5.2)."""
    noises = [DiscreteLaplace(each) for each in epsilons]
    curator.reserve(Plan(tuple(noise.event() for noise in noises)))
    cells = Grid(curator.domain, min(2**12, int(MOST_CELLS ** (1 / curator.domain.dimension) + 1e-9)))
    left = curator.on_cells(cells)
    nets = []
    for noise in noises:
        boxes = NetSums(cells, slabs=design.c, rows=rows)
        nets.append(boxes.means(left.release(boxes, noise)))
        left = left.drop_nearest(nets[-1], rows // 2)
        rows -= rows // 2
    return np.concatenate(nets)


def _around(
    curator: Curator,
    base: NDArray[np.float64],
    design: _Design,
    size: int,
    slots_noise: DiscreteLaplace,
    totals_noise: DiscreteLaplace,
) -> _Around:
    """The coreset around the base's centres (§4.2-4.3, corrected)."""
    domain = curator.domain
    centres = np.unique(domain.snap(base), axis=0)
    per_centre = CentreCounts(centres, domain)
    slot_scale, total_scale = (
        float(per_centre.sensitivity(curator.neighbours).l1 / noise.epsilon) for noise in (slots_noise, totals_noise)
    )
    radii = make_radii(
        inner=2 * domain.limit * log(1 / INNER_FAILURE) * slot_scale / max(size, 1),
        outer=2 * domain.limit * domain.dimension**0.5,
        growth=design.error,
        most=max(1, min(MOST_RINGS, MOST_SLOTS // (len(centres) * design.rays * design.kinds))),
    )
    rings = make_rings(centres, limit=domain.limit, steps=design.steps, radii=radii)
    intervals = IntervalCounts(centres, rings.rays, rings.squares, rings.place, domain)
    slots = count_places(curator, intervals, slots_noise, intervals.slots, rings.points).in_places().counts
    nearest_of = partial(nearest, centres=per_centre.centres)
    totals = count_places(curator, per_centre, totals_noise, nearest_of, centres).in_places().counts
    own = totals - np.bincount(rings.centre_of, weights=slots, minlength=len(centres))
    coreset = LatticeCoreset(np.concatenate([centres, rings.points]), np.concatenate([own, slots]))
    return _Around(coreset, rings, slots, totals, slot_scale, total_scale, by_zone=curator.zones is not None)


@dataclass(frozen=True)
class _Around:
    """Rows on rays around centres: the coreset, the released counts it is made of, and the scales of their noise."""

    coreset: LatticeCoreset
    rings: Rings
    slots: NDArray[np.float64]
    totals: NDArray[np.float64]
    slot_scale: float
    total_scale: float
    by_zone: bool

    def notes(self, centres: NDArray[np.float64], *, error: float, limit: int) -> dict[str, object]:
        """What the certificate says: how large it is, and how far its costs can be off; not of rows that zones kept."""
        found: dict[str, object] = {
            "base_centres": len(self.rings.centres),
            "error": error,
            "rays": len(self.rings.rays),
            "rings": len(self.rings.squares),
            "coreset_points": len(self.coreset.weights),
        }
        for objective in () if self.by_zone else ("k-means", "k-median"):
            bound = cost_error(
                self.rings,
                self.slots,
                self.totals,
                slot_scale=self.slot_scale,
                total_scale=self.total_scale,
                limit=limit,
                objective=objective,
            )
            found[f"{objective}_error"], found[f"{objective}_error_one_query"] = bound.any_query, bound.one_query
            found[f"{objective}_error_of_centres"] = cost_error_at(
                self.rings,
                self.slots,
                self.totals,
                centres,
                slot_scale=self.slot_scale,
                total_scale=self.total_scale,
                limit=limit,
                objective=objective,
            )
        return found


@dataclass(frozen=True)
class _Design:
    """All that is chosen before the charge, from public numbers."""

    domain: Domain
    base: str
    c: int
    boxes: int
    rounds: int | None
    base_centres: int
    error: float
    steps: int
    rays: int
    kinds: int = 1  # of zones, for each of which all slots are counted

    @classmethod
    def of(
        cls,
        domain: Domain,
        *,
        k: int,
        base: str,
        c: int | str | None,
        rounds: int | None,
        base_centres: int | None,
        error: float,
        epsilon: Fraction,
        kinds: int,
    ) -> _Design:
        """What follows from parameters and domain together, or an error that names what does not fit."""
        d = domain.dimension
        slabs = 16 * k * d if isinstance(c, str) else c or max(2, ceil((4 * k) ** (1 / d) - 1e-9))
        steps = ceil(1 / error - 1e-9)
        rays = rays_in(d, steps)
        if rays > MOST_RAYS:
            instead = "take fewer columns, or `grid`" if steps == 1 else "take a larger error"
            raise ParameterError(
                "error", f"{error:g} needs {rays:,} rays in {d} columns; the most is {MOST_RAYS:,}: {instead}"
            )
        many = k if base_centres is None else base_centres
        many = whole_number("base_centres", many, least=1, most=MOST_SLOTS // (rays * kinds))
        design = cls(
            domain=domain,
            base=base,
            c=slabs,
            boxes=slabs**d,
            rounds=rounds,
            base_centres=many,
            error=error,
            steps=steps,
            rays=rays,
            kinds=kinds,
        )
        if base == "net" and not design.possible:
            needed = design.rows_needed(1, epsilon, Neighbours.REPLACE_ONE)
            raise ParameterError(
                "c",
                f"{slabs} slabs on each of {d} axes are {design.boxes:.3g} boxes, and would need about "
                f"{needed:.1e} rows; the most is {MOST_BOXES:,} boxes: take fewer slabs, or base='grid'",
            )
        if base == "net" and design.rounds is not None and design.rounds > design.most_rounds:
            raise ParameterError(
                "rounds", f"of {design.boxes:,} boxes each may be at most {design.most_rounds}; or take fewer slabs, c"
            )
        return design

    @property
    def most_rounds(self) -> int:
        return max(1, min(40, MOST_BASE // (self.boxes * self.kinds)))

    @property
    def possible(self) -> bool:
        return self.boxes <= MOST_BOXES and self.boxes * self.rays * self.kinds <= MOST_SLOTS

    def rows_needed(self, rounds: int, epsilon: Fraction, neighbours: Neighbours) -> float:
        """The least n for which the noise of the last round's net stays small, if epsilon is for all rounds."""
        d = self.domain.dimension
        moves = 2 * d * self.c ** (d - 1) + (d if neighbours is Neighbours.ADD_REMOVE else 0)  # in units of the limit
        return self.boxes * moves * rounds * 2.0 ** (rounds - 1) / (MOST_BLUR * float(epsilon))

    def rounds_for(self, rows: int, epsilon: Fraction, neighbours: Neighbours) -> int:
        """How many rounds of nets to run, 0 for a base from the grid. From public or released numbers alone."""
        if self.base == "grid" or (self.base == "auto" and (neighbours is Neighbours.ADD_REMOVE or not self.possible)):
            return 0
        wanted = self.rounds
        if wanted is None:
            wanted = 1
            while wanted < self.most_rounds and self.rows_needed(wanted + 1, epsilon, neighbours) <= rows:
                wanted += 1
        enough = wanted <= self.most_rounds and self.rows_needed(wanted, epsilon, neighbours) <= rows
        return wanted if enough else 0


def _certain_rows(curator: Curator, size: int, epsilon: Fraction) -> int:
    """A number of rows that there are with probability 95%: slabs must be full for their means to be means."""
    if curator.neighbours is Neighbours.REPLACE_ONE:
        return min(size, MOST_ROWS)
    for_size = split(epsilon, *SIZE_SHARE)[0]
    return max(0, min(size - tail_of_two(float(for_size), 0.1), MOST_ROWS))  # a tenth has two ends

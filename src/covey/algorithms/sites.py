"""`sites`: k of a public list of candidate sites, by private local search (Gupta et al. 2010 §4.1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from covey.algorithms.kit import Outcome, counted
from covey.algorithms.local_search import MOST_SWAPS, Search, check_pairs, first_choice, usual_swaps
from covey.budget.accounting.plan import Plan, split
from covey.checks import Flag, Later, Whole
from covey.errors import ParameterError
from covey.noise.mechanisms import DiscreteLaplace
from covey.private.curator import Curator
from covey.public import Domain
from covey.queries.intervals import CentreCounts

MOST_SITES = 10_000
SIZES_SHARE = (9, 1)  # of epsilon: nine parts for the choice, one for the noisy number of rows of each site
EDGE = 1e-9  # of the domain's half-width: how far rounding may put a site outside

Floats = NDArray[np.float64]


def sites(
    curator: Curator,
    *,
    k: int,
    epsilon: Fraction,
    public_rng: np.random.Generator,
    objective: str = "k-means",
    sites: Annotated[Any, Later("as wide as the domain, at least k")] = None,
    swaps: Annotated[int, Whole(0, MOST_SWAPS)] | None = None,
    sizes: Annotated[bool, Flag("must be true or false")] = True,
) -> Outcome:
    """k of the listed sites, such that the rows are near to one of them.

    Guarantee: epsilon-DP under add/remove and replace-one. The list is public. A start that depends on the list alone;
    then `swaps` times one site is exchanged for another, and one of all the sets on the way is taken: each a pick
    of the exponential mechanism with an equal share (queries/swaps.md, queries/costs.md). With `sizes`, a tenth of
    epsilon goes to the noisy number of rows nearest to each site taken.

    Edge cases: a list that is missing, not of numbers, of another width, shorter than k, or that reaches out of the
    domain is refused before the charge. Sites may be listed twice. If there are k sites, all are taken.
    """
    listed = read_sites(sites, curator.domain, k=k)
    check_pairs(k=k, candidates=len(listed))
    for_search, for_sizes = split(epsilon, *SIZES_SHARE) if sizes else (epsilon, None)
    many = usual_swaps(k) if swaps is None else swaps
    search = Search(for_search, 0 if len(listed) == k else many)
    noise = None if for_sizes is None else DiscreteLaplace(for_sizes)
    curator.reserve(Plan((*search.events(), *(() if noise is None else (noise.event(),)))))
    start = first_choice(listed, k, rng=public_rng)
    taken = np.sort(search.run(curator, listed, start, objective=objective))
    notes = {"site_numbers": taken.tolist(), "swaps": search.swaps}
    if noise is None:
        return Outcome(listed[taken], None, notes)
    query = CentreCounts(listed[taken], curator.domain)
    counts = curator.release(query, noise).astype(np.float64)
    scale = float(query.sensitivity(curator.neighbours).l1 / noise.epsilon)
    return counted(listed[taken], counts, scale=scale, notes=notes)


def some_sites(lower: Floats, upper: Floats, k: int, rng: np.random.Generator) -> dict[str, Any]:
    """A list for a trial of `sites`: k + 3 places anywhere in a box."""
    return {"sites": rng.uniform(lower, upper, (k + 3, len(lower))).tolist()}


def read_sites(given: Any, domain: Domain, *, k: int) -> Floats:
    """The sites in lattice units, or an error that names what is wrong. All of it public."""
    if given is None:
        raise ParameterError(
            "sites",
            "must be given: the public list of places to choose from, such as [[-73.98, 40.75], [-73.95, 40.78]]; "
            "on the command line, --param sites=FILE",
        )
    if not _plain(given):  # what a certificate holds and an idempotency key is bound to
        raise ParameterError("sites", "must be plain lists of numbers, one for each site; an array has .tolist()")
    try:
        listed = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("sites", "must be a table of numbers, one line for each site") from None
    d = domain.dimension
    if listed.ndim == 1 and d == 1:
        listed = listed[:, None]
    if listed.ndim != 2 or listed.shape[1] != d:
        raise ParameterError("sites", f"must have {d} numbers for each site: {', '.join(map(repr, domain.names))}")
    if not k <= len(listed) <= MOST_SITES:
        raise ParameterError("sites", f"are {len(listed)}, but k = {k} are to be chosen, of at most {MOST_SITES:,}")
    strange = np.flatnonzero(~np.isfinite(listed).all(axis=1))
    if strange.size:
        raise ParameterError("sites", f"number {strange[0]} (from 0) has a coordinate that is missing or infinite")
    scaled = (listed - np.array(domain.middle)) / np.array(domain.half)
    reach = np.sqrt(np.square(scaled).sum(axis=1)) if domain.ball else np.abs(scaled).max(axis=1)
    outside = np.flatnonzero(reach > 1 + EDGE)
    if outside.size:
        raise ParameterError(
            "sites",
            f"number {outside[0]} (from 0) lies outside the bounds, as {outside.size} of {len(listed)} do; "
            "widen the bounds or leave these out",
        )
    return _lattice_units(listed, domain)


def _plain(given: Any) -> bool:
    """Whether this is a list of lists of numbers, or of numbers (for a single column), and nothing else."""
    if not isinstance(given, list | tuple):
        return False
    lines = [line if isinstance(line, list | tuple) else (line,) for line in given]
    return all(isinstance(x, int | float) and not isinstance(x, bool) for line in lines for x in line)


def _lattice_units(points: Floats, domain: Domain) -> Floats:
    """Points whose way back to user coordinates ends where it began, as far as floats allow."""
    lattice = domain.to_lattice(points)
    for _ in range(3):
        lattice += (points - domain.from_lattice(lattice)) / domain.unit * domain.limit
    return np.clip(lattice, *domain.corners)

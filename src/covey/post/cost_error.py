"""How far the cost of a coreset of rings can be from that of the rows: a bound from released numbers. Free.

With slots s of centres b(s): exact counts n_s and N_b, released n_s + Y_s and N_b + Z_b. For centres Q in the cube,
    cost(coreset) - cost(rows) = Σ rows' moves + Σ_b Z_b·cost(b, Q) + Σ_s Y_s·(cost(s, Q) - cost(b(s), Q)).
Each factor is bounded by geometry, whatever Q, or known for given Q; the noise by Chernoff's bound with the exact
moments of discrete Laplace noise; the numbers of moved rows by the released ones. Proofs: cost_error.md.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from covey.post.distances import Floats, nearest
from covey.post.rings import Rings

CONFIDENCE = 0.95
_AT_ONCE = 4096  # numbers: they stay in the cache
_RATES = np.concatenate([np.geomspace(1e-6, 0.5, 60), 1 - np.geomspace(0.5, 1e-3, 20)[1:]])


@dataclass(frozen=True)
class CostError:
    """Bounds on |cost(coreset) - cost(rows)|, each with probability 95%, in the units of a cube of half-width 1."""

    any_query: float  # all sets of centres in the cube at once
    one_query: float  # each single one, chosen without looking at the coreset


def cost_error(
    rings: Rings,
    slots: Floats,
    totals: Floats,
    *,
    slot_scale: float,
    total_scale: float,
    limit: float,
    objective: str,
) -> CostError:
    """The bound for released slot counts and totals per centre, with noise of these scales (in rows)."""
    moved, inner = rings.moved / limit, rings.inner / limit
    centres, points = rings.centres / limit, rings.points / limit
    away = np.sqrt(np.square(points - centres[rings.centre_of]).sum(axis=1))
    far_point, far_centre = _farthest(points), _farthest(centres)
    most = 2 * sqrt(centres.shape[1])
    if objective == "k-median":
        snap_slot, snap_centre = moved, np.full(len(centres), inner)
        noise_slot, noise_centre = away, far_centre
    else:  # |p² - q²| = |p - q|·(p + q)
        snap_slot = moved * (far_point + np.minimum(far_point + moved, most))
        snap_centre = inner * (far_centre + np.minimum(far_centre + inner, most))
        both = far_centre[rings.centre_of]
        noise_slot = np.minimum(away * (far_point + both), np.square(np.maximum(far_point, both)))
        noise_centre = np.square(far_centre)
    beyond = snap_slot - snap_centre[rings.centre_of]  # a row of a slot is not one of those moved to the centre
    fail = 1 - CONFIDENCE
    moves = float(snap_centre @ totals + beyond @ slots)
    more = tail([(snap_centre, total_scale), (np.abs(beyond), slot_scale)], fail / 2, signed=True)
    noise = [(noise_centre, total_scale), (noise_slot, slot_scale)]
    joined = [(noise_centre + snap_centre, total_scale), (noise_slot + np.abs(beyond), slot_scale)]
    return CostError(
        any_query=max(0.0, moves + more) + tail(noise, fail / 2, signed=False),
        one_query=max(0.0, moves + tail(joined, fail / 2, signed=True)),
    )


def cost_error_at(
    rings: Rings,
    slots: Floats,
    totals: Floats,
    queried: Floats,
    *,
    slot_scale: float,
    total_scale: float,
    limit: float,
    objective: str,
) -> float:
    """The bound for one set of centres, given in lattice units, that was chosen without looking at the noise.

    Far smaller than the others where centres are near the rows: a row that is moved by m changes a square by about
    2·m·(its distance), not by 2·m·(the diameter).
    """
    q, centres, points = queried / limit, rings.centres / limit, rings.points / limit
    moved, last, inner = rings.moved / limit, rings.last / limit, rings.inner / limit
    at_slot, at_centre = nearest(points, q), nearest(centres, q)
    slot, centre = _away(points, q[at_slot]), _away(centres, q[at_centre])
    own = centres[rings.centre_of]
    offset, away = _away(own, q[at_slot]), _away(points, own)
    if objective == "k-median":
        cost_slot, cost_centre = slot, centre
        dearer, cheaper = np.minimum(moved, np.maximum(last + offset - slot, 0.0)), np.minimum(moved, slot)
        dearer_here, cheaper_here = np.full(len(centre), inner), np.minimum(inner, centre)
    else:
        cost_slot, cost_centre = np.square(slot), np.square(centre)
        ring = np.maximum(np.square(last) - np.square(away), 0.0) + 2 * moved * offset
        dearer, cheaper = np.minimum(moved * (2 * slot + moved), ring), _less(slot, moved)
        dearer_here, cheaper_here = inner * (2 * centre + inner), _less(centre, inner)
    between = cost_slot - cost_centre[rings.centre_of]
    sides = []
    for sign, by_slot, by_centre in ((1.0, dearer, dearer_here), (-1.0, cheaper, cheaper_here)):
        beyond = by_slot - by_centre[rings.centre_of]
        drawn = [(np.abs(cost_centre + sign * by_centre), total_scale), (np.abs(between + sign * beyond), slot_scale)]
        sides.append(float(by_centre @ totals + beyond @ slots) + tail(drawn, (1 - CONFIDENCE) / 2, signed=True))
    return max(0.0, *sides)


def _away(points: Floats, others: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(points - others).sum(axis=1)))


def _less(distance: Floats, moved: Floats | float) -> Floats:
    """How much smaller a squared distance can become by a move."""
    return np.asarray(np.square(distance) - np.square(np.maximum(distance - moved, 0.0)))


def tail(parts: list[tuple[Floats, float]], fail: float, *, signed: bool) -> float:
    """A number that Σ a_i·Y_i (or Σ a_i·|Y_i|) exceeds with probability at most `fail`; Y_i discrete Laplace.

    parts : factors a_i >= 0 and the scale of their noise. Chernoff: (Σ ln E e^(λ a_i Y_i) + ln(1/fail))/λ, the best λ.
    """
    steepest = max((float(a.max(initial=0.0)) * scale for a, scale in parts), default=0.0)
    if steepest == 0:
        return 0.0
    best, at_once = np.inf, max(1, _AT_ONCE // max(len(a) for a, _ in parts))
    for rates in np.split(_RATES / steepest, range(at_once, len(_RATES), at_once)):
        moments = (_log_moment(np.multiply.outer(rates, a), 1 / scale, signed=signed) for a, scale in parts)
        total = sum(each.sum(axis=1) for each in moments)
        best = min(best, float(((total - log(fail)) / rates).min()))
    return best


def _log_moment(x: Floats, s: float, *, signed: bool) -> Floats:
    """ln E e^(xY), or ln E e^(x|Y|), for P(Y = y) proportional to e^(-s|y|), 0 <= x < s."""
    up = np.log(-np.expm1(x - s))
    if signed:
        return np.asarray(2 * np.log(-np.expm1(-s)) - up - np.log(-np.expm1(-x - s)))
    return np.asarray(np.log(-np.expm1(-s)) - np.log1p(np.exp(-s)) + np.log1p(np.exp(x - s)) - up)


def _farthest(points: Floats) -> Floats:
    """The distance from each point of the cube [-1, 1]^d to the corner that is farthest from it."""
    return np.sqrt(np.square(1 + np.abs(points)).sum(axis=1))

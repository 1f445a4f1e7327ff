"""How far rows are spread about the points that stand for them, and what that does to costs. Free.

The rows of a point p with spread s are taken for a cloud about p that is the same in all d directions, of variance s/d.
"""

from math import pi, sqrt
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtr

from covey.post.distances import Floats

MOST_NOISE = 0.15  # of a cost that is to be trusted: what its noise stays below, nine times in ten
QUANTILE = 1.645  # of the absolute value of noise of standard deviation 1: 90%, of normal and of Laplace noise


def told(doubts: dict[str, bool], *, cost: float, noise: float) -> dict[str, Any]:
    """What a certificate says of costs: whether they are to be trusted, why not, and the deviation of their noise.

    cost, noise : of the published centres, squared, with columns scaled to [-1, 1].
    """
    holds = [why for why, so in doubts.items() if so]
    holds += ["the noise is large"] if QUANTILE * noise > MOST_NOISE * cost else []
    why = {"cost_doubt": "; ".join(holds)} if holds else {}
    return {"cost_trusted": not holds, **why, "cost_noise": noise}


def spread_out(points: Floats, weights: Floats, total: float, *, most: float) -> Floats:
    """Mean squared distances of the rows from their points that add up, by weight, to a noisy total.

    They are in proportion to the distance of the nearest other point: rows that are far from others are far from their
    own point too. The total is cut off at 0, and at `most` for every row, as a whole: cut off for each point apart,
    noise of one sign would be left.
    """
    away = cKDTree(points).query(points, k=2)[0][:, 1] if len(points) > 1 else np.ones(1)
    shape = away if float(weights @ away) > 0 else np.ones(len(points))
    mass = float(weights @ shape)
    return np.zeros(len(points)) if mass <= 0 else shape * (min(max(total, 0.0), most * float(weights.sum())) / mass)


def saved(ahead: Floats, apart: Floats, spreads: Floats, *, d: int) -> Floats:
    """By how much the mean square is less because some rows of a point are nearer to its second centre than its first.

    ahead : |p - c2|² - |p - c1|² >= 0; apart : |c1 - c2|. For a row x of the cloud that difference is normal about
    `ahead` with deviation σ = 2·apart·√(s/d), so E max(0, -difference) = σ·φ(m/σ) - m·Φ(-m/σ) is saved.
    """
    deviation = np.maximum(2 * apart * np.sqrt(spreads / d), 1e-150)
    z = np.minimum(ahead / deviation, 38.0)  # beyond, nothing is saved
    return np.asarray(deviation * np.maximum(np.exp(-np.square(z) / 2) / sqrt(2 * pi) - z * ndtr(-z), 0.0))


def mean_distances(squares: Floats, spreads: Floats, save: Floats, *, d: int) -> Floats:
    """The mean distance of a cloud's rows, given the squared distance of its point and what a second centre saves.

    E√Q = √(EQ)·(1 - Var Q/(8 (EQ)²)), to second order, of the squared distance Q to the first centre: EQ = D² + s, and
    Var Q = (2s² + 4D²s)/d in a cloud.
    """
    mean = squares + spreads
    part = np.divide(spreads, mean, out=np.zeros_like(mean), where=mean > 0)
    return np.asarray(np.sqrt(np.maximum(mean - save, 0.0)) * (1 - part * (2 - part) / (4 * d)))

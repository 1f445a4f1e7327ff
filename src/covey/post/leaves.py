"""What the noisy counts of a tree's leaves say about where the rows are. Free: it never sees rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.post.distances import Floats, add_up_each, nearest_with_squares, squared_lengths
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.costs import inside_matters
from covey.post.errors.mixture import fit_mixture, mean_places
from covey.post.kmeans import Clustering, weighted_kmeans
from covey.post.kmedian import weighted_kmedian
from covey.post.starts import plus_plus, uniform_starts

STARTS = 10
_MIXED = 2**11, 64  # boxes in all and for each centre, the more of them, that tell a mixture where rows are in boxes
_CUT = 4.0  # of a cluster's mean square: how far from its centre dropped leaves come back
_RISK = 0.05  # of a cluster's mean square: the most that the noise of leaves that came back may add
_LEAST_SHARE = 0.3  # of a cluster's weight: with less, its leaves that came back are mostly noise


def kept_weights(counts: Floats, *, scale: float, strictness: float) -> Floats:
    """Noisy counts that stand out of the noise, and 0 for the others.

    scale : of the Laplace noise. Of L leaves without rows the largest noise is about scale·ln(L); a count is kept if it
    exceeds `strictness` times that. If none does, the largest is kept.
    """
    kept = np.where(counts > strictness * scale * np.log(max(len(counts), 4)), counts, 0.0)
    if not kept.any():
        kept[int(counts.argmax())] = max(1.0, float(counts.max()))
    return kept


def certain(counts: Floats, *, scale: float | Floats) -> NDArray[np.bool_]:
    """Which counts are no noise: of leaves without rows, one in sixty trees has such a count."""
    return np.asarray(counts > scale * (np.log(max(len(counts), 4)) + 3.5))


def cluster(
    points: Floats,
    weights: Floats,
    *,
    k: int,
    lower: ArrayLike,
    upper: ArrayLike,
    objective: str,
    rng: np.random.Generator,
    starts: int = STARTS,
) -> Clustering:
    """k centres of weighted points, none of them negative, by k-means or k-median from k-means++ starts."""
    if objective not in ("k-means", "k-median"):
        raise ParameterError("objective", 'must be "k-means" or "k-median"')
    search = weighted_kmeans if objective == "k-means" else weighted_kmedian

    def drawn() -> Floats:
        if not (weights > 0).any():
            return uniform_starts(k, lower=lower, upper=upper, rng=rng)[None]
        return plus_plus(points, weights, k, starts=starts, rng=rng)

    return search(points, weights, k=k, lower=lower, upper=upper, starts=drawn, swaps=3 * k + 20)


def standing_clusters(
    boxes: CountedBoxes, k: int, objective: str, rng: np.random.Generator, *, starts: int = STARTS
) -> Floats:
    """k centres in [-1, 1]^d of the boxes that stand out of their noise, as `auto` finds them."""
    stands, edge = boxes.stands, np.ones(boxes.dimension)
    weights = np.where(stands, np.maximum(boxes.counts, 1e-9), 0.0)
    scale = float(np.sqrt(boxes.variances.mean() / 2))
    found = cluster(
        boxes.points[stands], weights[stands], k=k, lower=-edge, upper=edge, objective=objective, rng=rng, starts=starts
    ).centres
    if objective == "k-means":
        found = settled(boxes, weights, found, scale=scale)
    return np.clip(found, -edge, edge)


def settled(boxes: CountedBoxes, weights: Floats, centres: Floats, *, scale: float | Floats) -> Floats:
    """Centres of k-means in [-1, 1]^d moved to the means of their rows: first as if these sat in the middles of their
    boxes and then, where it matters, with the rows of each box where a mixture says that they are on average.
    """
    found = recentre(boxes.points, boxes.widths, boxes.counts, weights, centres, scale=scale)
    if not inside_matters(boxes, found):
        return found
    mixture = fit_mixture(boxes, found, most=max(_MIXED[0], _MIXED[1] * len(found)))
    return recentre(mean_places(boxes, mixture), boxes.widths, boxes.counts, weights, found, scale=scale)


def recentre(
    points: Floats,
    widths: Floats,
    counts: Floats,
    weights: Floats,
    centres: Floats,
    *,
    scale: float | Floats,
    rounds: int = 3,
) -> Floats:
    """Centres moved to the means of their leaves, with leaves near them that were dropped as too light back again.

    Near a centre all leaves count, with the sign of their noisy counts: the rows in light leaves are missed otherwise,
    and noise of both signs cancels. Far from it only leaves that stand out do. A centre stays where it is if the noise
    of the leaves that came back would move it, squared and on average, by more than 5% of its cluster's mean square.
    scale : of the noise of all counts, or of each.
    """
    k, scales = len(centres), np.broadcast_to(scale, counts.shape)
    within = squared_lengths(widths) / 12  # the mean square of a uniform point about its leaf's middle
    stands, heavy = weights > 0, np.maximum(weights, 0.0)
    light, widest = np.square(scales) * ~stands, np.full(k, scales.max())
    alike = bool((scales == widest[0]).all())
    for _ in range(rounds):
        label, away = nearest_with_squares(points, centres)
        mass, moment, kept = add_up_each(label, [heavy, heavy * (away + within), weights], k)
        square = moment / np.maximum(mass, 1e-9)
        active = np.flatnonzero(((away <= (_CUT * square).take(label)) | stands) & (counts != 0))
        own, count = label.take(active), counts.take(active)
        noise, sides = away.take(active) * light.take(active), (count * column.take(active) for column in points.T)
        net, doubt, *sums = add_up_each(own, [count, noise, *sides], k)
        error = 2 * doubt / np.maximum(net, 1e-9) ** 2
        if not alike:
            widest = np.zeros(k)
            np.maximum.at(widest, own, scales.take(active))
        trusted = (net > np.maximum(_LEAST_SHARE * kept, 2 * widest)) & (error <= _RISK * square)
        means = np.stack(sums, axis=1) / np.where(trusted, net, 1.0)[:, None]
        centres = np.where(trusted[:, None], means, centres)
        heavy = np.zeros(len(counts))
        heavy[active] = np.maximum(count, 0.0)
    return centres

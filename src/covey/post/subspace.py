"""From noisy moments to a subspace worth looking at, and from noisy sums to centres. Free: it never sees rows."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from covey.post.distances import Floats, add_up

SMALLEST_SHARE = 0.15  # of the first eigenvalue: axes of less are left out
LEAST_SCATTER = 1e-3  # of the radius' square: rows are never taken to be nearer to their mean
MOST_AXES = 16
MOST_COLUMNS = 12  # that stand for axes where only each column's own squares are known


@dataclass(frozen=True, eq=False)
class Subspace:
    """Directions in which the rows are spread out, and how much."""

    axes: Floats  # d x q, orthonormal columns
    variances: Floats  # q: of the rows along each axis
    scatter: float  # the rows' mean squared distance from their mean, in all d dimensions


def outer_radius(counts: Floats, radii: Floats, *, size: float, coverage: float, scale: float) -> float:
    """A radius that about `coverage` of the rows lie within, from noisy numbers of rows between radii.

    counts : rows within radii[0], then between radii[i-1] and radii[i]. Counts below the largest noise to be expected
    in so many buckets (scale·ln) are taken for empty: many empty buckets would add up to a lot of noise.
    """
    seen = np.where(counts[: len(radii)] > scale * math.log(len(radii)), counts[: len(radii)], 0.0)
    beyond = np.cumsum(seen[::-1])[::-1]  # beyond[i]: rows outside radii[i-1], from bucket i on
    crowded = np.flatnonzero(beyond > (1 - coverage) * size)
    return float(radii[crowded[-1]] if crowded.size else radii[0])


def lost_square(counts: Floats, radii: Floats, *, size: float, radius: float, scale: float) -> float:
    """What clipping to a radius takes off the rows' mean squared distance, from the same noisy numbers.

    A row between two radii is taken to be at their geometric mean. Only counts that are hardly ever noise alone count,
    in one fit of twelve: far out, a few rows that are not there would add a lot.
    """
    seen = np.where(counts[1 : len(radii)] > 1.5 * scale * math.log(len(radii)), counts[1 : len(radii)], 0.0)
    return float(seen @ np.maximum(radii[1:] * radii[:-1] - radius**2, 0.0)) / size


def principal_axes(moments: Floats, *, size: float, radius: float, noise: float, k: int) -> Subspace:
    """The main axes of noisy second moments (d x d sums about the mean), as many as stand out of the noise.

    noise : the standard deviation off the diagonal. Random symmetric noise has eigenvalues up to 2·noise·√d, the edge;
    an eigenvalue above it is shrunk to what it was without noise, and its axis leans by a known angle, so that part
    of the variance along it is only average.
    """
    d = len(moments)
    edge = 2 * noise * math.sqrt(d)
    values, vectors = np.linalg.eigh(moments)
    values, vectors = values[::-1], vectors[:, ::-1]
    trace = max(float(np.trace(moments)), LEAST_SCATTER * size * radius**2)
    out = int(((values > edge) & (values > SMALLEST_SHARE * values[0])).sum())
    q = number_of_axes(out, k=k, d=d)
    root = np.sqrt(np.maximum(np.square(values) - edge**2, 0.0))
    true = np.maximum((values + root) / 2, 1e-12 * trace)
    lean = np.minimum(1.0, np.square(edge / (2 * true)))
    spread = np.maximum(true * (1 - lean) + lean * trace / d, trace / d)
    return Subspace(vectors[:, :q], spread[:q] / size, trace / size)


def widest_columns(squares: Floats, *, size: float, radius: float, noise: float, k: int) -> Subspace:
    """The columns of largest noisy variance: a subspace that needs no noise that grows with d.

    noise : the standard deviation of each sum of squares. Variances are shrunk towards their mean by James-Stein.
    """
    d = len(squares)
    scatter = max(float(squares.sum()) / size, 0.02 * radius**2)
    variances, middle = squares / size, float(squares.mean()) / size
    apart = float(np.square(variances - middle).sum())
    kept = max(0.0, 1 - (noise / size) ** 2 * (d - 1) / apart) if apart > 0 else 0.0
    shrunk = np.maximum(middle + kept * (variances - middle), 0.1 * scatter / d)
    q = number_of_axes(min(MOST_COLUMNS, k), k=k, d=d)
    widest = np.argsort(-shrunk, kind="stable")[:q]
    axes = np.zeros((d, q))
    axes[widest, np.arange(q)] = 1.0
    return Subspace(axes, shrunk[widest], scatter)


def number_of_axes(wanted: int, *, k: int, d: int) -> int:
    """At least 2 and log2(k), so that k centres have room; at most 16, k and d."""
    return min(max(wanted, 2, math.ceil(math.log2(k))), MOST_AXES, max(k, 2), d)


def middles_of_mass(lower: Floats, upper: Floats, *, half: Floats, deviations: Floats) -> Floats:
    """Where the rows of a box are on average, per axis, if the rows are spread like a bell over all boxes.

    lower, upper : m x q. half : the half-widths of the whole; the outermost boxes also hold the rows that were clipped
    to it, so they reach out to infinity. Boxes so far out that a bell has no mass there are taken at their middle.
    """
    return rows_in_boxes(lower, upper, half=half, middles=np.zeros_like(lower), deviations=deviations)[0]


def rows_in_boxes(
    lower: Floats, upper: Floats, *, half: Floats, middles: Floats, deviations: Floats
) -> tuple[Floats, Floats]:
    """The mean of a box's rows and their variance along each axis, both m x q, if they are part of a bell.

    middles, deviations : of each box's bell. Of a bell cut to [a, b] the mean square is 1 + (a·φ(a) - b·φ(b))/mass -
    mean². Far out, rows are anywhere in the box.
    """
    edge = half * (1 - 1e-6)
    left = np.where(lower <= -edge, -40.0, (lower - middles) / deviations)
    right = np.where(upper >= edge, 40.0, (upper - middles) / deviations)
    flip = left + right > 0  # work in the lower tail, where digits are not lost
    left, right = np.where(flip, -right, left), np.where(flip, -left, right)
    mass = ndtr(right) - ndtr(left)
    some = np.maximum(mass, 1e-300)
    bells = [np.exp(-np.square(end) / 2) / math.sqrt(2 * math.pi) for end in (left, right)]
    mean = (bells[0] - bells[1]) / some
    square = 1 + (left * bells[0] - right * bells[1]) / some - np.square(mean)
    places = middles + np.where(flip, -mean, mean) * deviations
    known = mass > 1e-6
    spread = np.where(known, np.maximum(square, 0.0) * np.square(deviations), np.square(upper - lower) / 12)
    return np.where(known, np.clip(places, lower, upper), (lower + upper) / 2), spread


def bells_of_clusters(
    places: Floats, spreads: Floats, weights: Floats, label: NDArray[np.intp], *, count: int
) -> tuple[Floats, Floats]:
    """The mean and deviation of each cluster's rows along each axis, count x q, from those of its boxes' rows.

    A cluster without weight gets the whole's.
    """
    mass = add_up(label, weights, count)[:, None]
    sums = [
        np.stack([add_up(label, weights * column, count) for column in table.T], axis=1)
        for table in (places, np.square(places) + spreads)
    ]
    whole = [each.sum(axis=0) / max(float(weights.sum()), 1e-9) for each in sums]
    mean, square = (
        np.where(mass > 0, each / np.maximum(mass, 1e-9), every) for each, every in zip(sums, whole, strict=True)
    )
    least = 1e-12 * max(float(square.max()), 1.0)
    return mean, np.sqrt(np.maximum(square - np.square(mean), least))


def spanned(*directions: Floats) -> Floats:
    """Orthonormal columns whose span holds all columns of tables d x any; where these are d or more, all of space."""
    table = np.concatenate(directions, axis=1)
    return np.linalg.qr(table)[0] if table.shape[1] < len(table) else np.eye(len(table))


def shrunk(vector: Floats, deviation: float, *, reach: float, count: int | None = None) -> Floats:
    """A noisy vector drawn to 0, the middle: where it is only noise, nothing is left of it.

    Its square must exceed what noise adds to it, and a deviation of that of Laplace noise (James-Stein); and what is
    left is what noise leaves to be known of numbers anywhere within `reach` together. count : of noisy numbers in it.
    """
    count = len(vector) if count is None else count
    noise, known = deviation**2, reach**2 / (3 * count)
    beyond = 1 - (count + math.sqrt(5 * count)) * noise / max(float(vector @ vector), 1e-300)
    return np.asarray(vector * max(0.0, min(beyond, known / (known + noise))))


def shrunk_steps(shifts: Floats, deviations: Floats, weights: Floats, axes: Floats) -> Floats:
    """Noisy moves of k centres, shrunk by how much of them is noise, inside and outside the subspace separately.

    shifts : k x d, with noise of standard deviation deviations[c] in every coordinate of line c. The factor is the
    mean of two estimates: positive-part James-Stein from the cluster's own move, and one pooled over all clusters.
    """
    inside = shifts @ axes @ axes.T
    q, d = axes.shape[1], shifts.shape[1]
    steps = np.zeros_like(shifts)
    for part, p in ((inside, q), (shifts - inside, d - q)):
        if p < 1:
            continue
        squares, noise = np.square(part).sum(axis=1), np.square(deviations)
        own = np.maximum(0.0, 1 - max(p - 2, 1) * noise / np.maximum(squares, 1e-300))
        prior = max(0.0, float(weights @ (squares - p * noise)) / (p * float(weights.sum())))
        pooled = prior / (prior + np.maximum(noise, 1e-300))
        steps += part * ((own + pooled) / 2)[:, None]
    return steps


def mean_square(points: Floats, weights: Floats) -> float:
    """The mean squared length of weighted points."""
    return float(weights @ np.square(points).sum(axis=1)) / float(weights.sum())


def gained(steps: Floats, shifts: Floats, deviations: Floats, weights: Floats) -> float:
    """By how much steps lowered the mean squared residual, as far as the noisy shifts tell."""
    taken, wanted = np.square(steps).sum(axis=1), np.square(shifts).sum(axis=1)
    share = np.sqrt(taken / np.maximum(wanted, 1e-300))
    noise = share * shifts.shape[1] * np.square(deviations)
    return float(weights @ (2 * ((steps * shifts).sum(axis=1) - noise) - taken)) / float(weights.sum())


def smooth_columns(mean: Floats, *, deviation: float) -> Floats:
    """A noisy mean with its differences between neighbouring columns shrunk, at every dyadic scale (Haar, James-Stein).

    For columns in a natural order, such as the pixels of a picture; for others it does little.
    """
    d = len(mean)
    padded = np.full(1 << max(0, (d - 1).bit_length()), mean.mean())
    padded[:d] = mean
    details = []
    while len(padded) > 1:
        details.append((padded[0::2] - padded[1::2]) / math.sqrt(2))
        padded = (padded[0::2] + padded[1::2]) / math.sqrt(2)
    for detail in reversed(details):
        if len(detail) > 2:
            squares = max(float(np.square(detail).sum()), 1e-300)
            detail = detail * max(0.0, 1 - (len(detail) - 2) * deviation**2 / squares)
        finer = np.empty(2 * len(padded))
        finer[0::2], finer[1::2] = (padded + detail) / math.sqrt(2), (padded - detail) / math.sqrt(2)
        padded = finer
    return padded[:d]

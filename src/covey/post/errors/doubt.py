"""Whether a centre stands for rows, or may be only noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from covey.post.distances import Floats, add_up, nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.sizes import CHANCE, Sizes

DEVIATIONS = 2.0  # of noise, that a size must exceed


def doubtful(
    boxes: CountedBoxes, centres: Floats, sizes: Sizes, label: NDArray[np.intp] | None = None
) -> NDArray[np.bool_]:
    """Which centres may be only noise: their size does not exceed its noise, or noise alone explains their boxes.

    Laplace noise has no memory: the count of an *empty* box that stands out exceeds its threshold by an exponential
    number of the noise's scale. Of m such boxes, the excess is Gamma(m). Thresholds of boxes that were cut by their own
    counts are too low for that, so the size counts too; but it has the noise of wide boxes around. A centre is not
    doubted either if its boxes exceed by more than chance what the largest of all boxes as wide has by noise alone, or
    if all of its boxes together, those that do not stand out too, have more rows than noise would leave anywhere.
    A centre that is not doubtful has rows; that it is a cluster of its own is not said. label : the centre that each
    box is nearest to, if that is known.
    """
    k, label = len(centres), nearest(boxes.points, centres) if label is None else label
    small = sizes.sizes <= DEVIATIONS * np.sqrt(sizes.noise)
    plain = small | (_chance(boxes, label, k, boxes.thresholds) >= CHANCE)
    if not plain.any():
        return np.asarray(plain)
    plain &= _chance(boxes, label, k, _largest(boxes)) >= CHANCE
    return np.asarray(plain & (_together(boxes, label, k) >= CHANCE))


def _chance(boxes: CountedBoxes, label: NDArray[np.intp], k: int, thresholds: Floats) -> Floats:
    """Of empty boxes that exceed their thresholds to do so by as much as those of each centre; 1 where none does."""
    above = np.flatnonzero(boxes.stands & (boxes.counts >= thresholds))
    label = label[above]
    excess = (boxes.counts[above] - thresholds[above]) / boxes.scales[above]
    many = np.bincount(label, minlength=k)
    return np.where(many > 0, gammaincc(np.maximum(many, 1), add_up(label, excess, k)), 1.0)


def _largest(boxes: CountedBoxes) -> Floats:
    """About the largest noise that as many boxes as wide as each of these as fill the domain have among them."""
    many = np.ones(len(boxes.counts))
    for middle, width in zip(boxes.points.T, boxes.widths.T, strict=True):
        many *= ((middle + width / 2).max() - (middle - width / 2).min()) / width
    log = np.log(np.maximum(many, 4.0))
    return np.maximum(boxes.thresholds, np.maximum(boxes.scales * log, np.sqrt(2 * log * boxes.variances)))


def _together(boxes: CountedBoxes, label: NDArray[np.intp], k: int) -> Floats:
    """At most the chance that noise alone gives so many rows to the boxes of each centre, or to some others as many.

    For noise Y of variance v whose tail is no heavier than Laplace's, log E e^(tY) is at most -log(1 - vt²/2), which is
    convex in v: for boxes of variances up to w it is at most Σv/w times that of w. The chance that the sum exceeds S
    is then at most e^(-tS) (1 - wt²/2)^(-Σv/w), for the best t; and there are as many places as boxes.
    """
    widest = np.full(k, 1e-300)
    np.maximum.at(widest, label, boxes.variances)
    many = np.maximum(add_up(label, boxes.variances, k) / widest, 1.0)
    rows = np.maximum(add_up(label, boxes.counts, k), 0.0) / np.sqrt(widest / 2)
    best = rows / (many + np.hypot(many, rows))  # t, in scales
    return np.asarray(len(boxes.counts) * np.exp(-many * np.log1p(-np.square(best)) - best * rows))

"""Whether a centre stands for rows, or may be only noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from covey.post.distances import Floats, add_up, nearest
from covey.post.errors.boxes import CountedBoxes
from covey.post.errors.sizes import CHANCE, Sizes

DEVIATIONS = 2.0  # of noise, that a size must exceed


def doubtful(boxes: CountedBoxes, centres: Floats, sizes: Sizes) -> NDArray[np.bool_]:
    """Which centres may be only noise: their size does not exceed its noise, or noise alone explains their boxes.

    Laplace noise has no memory: the count of an *empty* box that stands out exceeds its threshold by an exponential
    number of the noise's scale. Of m such boxes, the excess is Gamma(m). A centre that is not doubtful has rows; that
    it is a cluster of its own is not said.
    """
    k, stands = len(centres), boxes.stands
    label = nearest(boxes.points[stands], centres)
    excess = np.maximum(boxes.counts - boxes.thresholds, 0.0)[stands] / boxes.scales[stands]
    many = np.bincount(label, minlength=k)
    chance = np.where(many > 0, gammaincc(np.maximum(many, 1), add_up(label, excess, k)), 1.0)
    small = sizes.sizes <= DEVIATIONS * np.sqrt(sizes.noise)
    return np.asarray(small | (chance >= CHANCE))

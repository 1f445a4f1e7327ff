"""How many rows are nearest to each centre, and between which two numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, add_up, nearest
from covey.post.errors.boxes import CountedBoxes, Cut, Near, chunks, laplace_variance, spots
from covey.post.errors.quantiles import LEVEL, deviations
from covey.post.tails import tail

CHANCE = 0.01  # that nothing but noise is called rows
FEWEST = 2.7  # kept rows, of which nobody need have been kept: by that many the rows behind coins may be more
UNEVEN = 0.5  # of the most that the rows of a cut box can be unevenly spread: all of them on one side
HEAVY = 0.1  # of a cluster, in one box that a border cuts: nothing averages out, and the slice may be thin or not
CERTAIN = 3.0  # deviations of its noise that such a box counts at the least


@dataclass(frozen=True, eq=False)
class Sizes:
    """Noisy numbers of rows of k clusters, with the parts of their variance."""

    sizes: Floats
    noise: Floats  # the variance that noise adds
    uneven: Floats  # the variance of where the rows of cut boxes are, and of few kept rows
    draws: Floats  # of Laplace noise: as many equal ones have the same kurtosis; of normal noise, infinitely many
    scale: float | None = None  # of that noise, where all counts have the same

    @classmethod
    def counted(cls, counts: Floats, *, scale: float) -> Sizes:
        """Sizes that were counted one by one, each with Laplace noise of the same scale."""
        alike = np.ones(len(counts))
        return cls(counts, laplace_variance(scale) * alike, 0 * alike, alike, scale)

    @classmethod
    def normal(cls, counts: Floats, *, deviation: float) -> Sizes:
        """Sizes that were counted one by one, each with Gaussian noise of the same standard deviation."""
        alike = np.ones(len(counts))
        return cls(counts, deviation**2 * alike, 0 * alike, np.inf * alike)

    def of_all(self, rows: float) -> Sizes:
        """The sizes of a sample as those of all rows, of which each stands for so many; the draw adds its variance."""
        drawn = np.maximum(self.sizes, 0.0) * rows * (rows - 1)
        scale = None if self.scale is None else self.scale * rows
        return Sizes(self.sizes * rows, self.noise * rows**2, self.uneven * rows**2 + drawn, self.draws, scale)

    def small(self) -> NDArray[np.bool_]:
        """Which sizes an empty cluster has, by noise alone, in more than one case of a hundred."""
        return np.asarray(self.sizes <= deviations(1 - 2 * CHANCE, self.draws) * np.sqrt(self.noise))

    def intervals(self, level: float = LEVEL, *, most: float = np.inf) -> Floats:
        """k x 2: each holds its number of rows with probability `level`, not all of them at once.

        most : the number of all rows, where that is public. A noisy size below 0 reaches as far up as 0 would, and one
        above `most` as far down as that would: no possible number is left out that the size itself would leave in.
        """
        half = deviations(level, self.draws) * np.sqrt(self.noise + self.uneven)
        if self.scale is not None:  # noise of one draw is in whole rows, and goes beyond a smooth law's quantile
            alone = (self.draws == 1) & (self.uneven == 0)
            half = np.where(alone, np.maximum(half, tail(1 / self.scale, 1 - level)), half)
        high = np.minimum(np.maximum(self.sizes, 0.0) + half, most)
        return np.stack([np.minimum(self.sizes, most) - half, high], axis=1)

    def joint(self, level: float = LEVEL, *, most: float = np.inf) -> Floats:
        """k x 2: all of them together hold with probability `level`."""
        return self.intervals(1 - (1 - level) / len(self.sizes), most=most)


def cluster_sizes(boxes: CountedBoxes, centres: Floats, near: Near | None = None) -> Sizes:
    """The sizes of the clusters of some centres. near : `boxes.near(centres)`, if that is known.

    A box that a border cuts counts by its share F on each side: exactly if it is one border, by places in it if they
    are several. Its N rows need not be spread evenly: at worst all are on one side, which has the variance F(1 - F)N²;
    half of that is taken, with N² less the noise in it. Where one such box is a tenth of a cluster, half of N²/4:
    numbers that are whole may all be in the thinnest slice. A single box tells nothing of where its rows are: its
    interval reaches from none of them to all. Summed first and then made positive, since single boxes may
    hold less than their noise. Where coins kept rows, that nobody was kept does not mean that nobody is there: the
    variance is never below that of a few kept rows (post/zones.md).
    """
    k, cut = len(centres), boxes.cut_by(centres, near)
    borders = np.bincount(cut.box, minlength=len(boxes.counts))
    whole, once = np.flatnonzero(borders == 0), borders[cut.box] == 1
    sums = _Sums(boxes, k)
    sums.add(whole, cut.label[whole], np.ones(len(whole)))
    sums.add(cut.box[once], cut.other[once], cut.part[once])
    sums.add(cut.box[once], cut.label[cut.box[once]], 1 - cut.part[once])
    seen = [np.empty(0, dtype=np.intp)]
    for box, centre, share in _shares(boxes, centres, np.flatnonzero(borders > 1)):
        sums.add(box, centre, share)
        seen.append(box * k + centre)
    several = np.flatnonzero(~once)
    thin = several[~np.isin(cut.box[several] * k + cut.other[several], np.concatenate(seen))]  # for places looked at
    sums.spread(cut.box[thin], cut.other[thin], cut.part[thin])
    sums.spread(cut.box[thin], cut.label[cut.box[thin]], cut.part[thin])
    uneven = np.maximum(sums.uneven(), 0.0) + FEWEST * np.square(_coins(boxes, cut, k))
    squares = np.square(sums.noise + uneven)
    draws = squares / np.maximum(sums.fourth, 1e-30 * squares + 1e-300)
    return Sizes(sums.sizes, sums.noise, uneven, draws, boxes.scale)


class _Sums:
    """Sums over boxes for each centre, by the box's share in its cluster."""

    def __init__(self, boxes: CountedBoxes, k: int) -> None:
        self._boxes, self._k = boxes, k
        self.sizes, self.noise, self.fourth = np.zeros((3, k))
        self._spread: list[tuple[NDArray[np.intp], NDArray[np.intp], Floats]] = []

    def add(self, box: NDArray[np.intp], centre: NDArray[np.intp], share: Floats) -> None:
        counts, variances = self._boxes.counts[box], self._boxes.variances[box]
        noise = np.square(share) * variances
        self.sizes += add_up(centre, share * counts, self._k)
        self.noise += add_up(centre, noise, self._k)
        self.fourth += add_up(centre, np.square(noise), self._k)
        self.spread(box, centre, share)

    def spread(self, box: NDArray[np.intp], centre: NDArray[np.intp], share: Floats) -> None:
        """Boxes of which a part is in a cluster."""
        parts = np.flatnonzero(share < 1)
        self._spread.append((box[parts], centre[parts], share[parts]))

    def uneven(self) -> Floats:
        """The variance of where their rows are, once all sizes are known."""
        box, centre, share = (np.concatenate(each) for each in zip(*self._spread, strict=True))
        counts, variances = self._boxes.counts[box], self._boxes.variances[box]
        heavy = counts > np.maximum(HEAVY * self.sizes[centre], CERTAIN * np.sqrt(variances))
        part = UNEVEN * np.where(heavy, 0.25, share * (1 - share))
        if len(self._boxes.counts) == 1:  # of which nothing is known: all rows may be nearest to any of the centres
            part = np.square(np.maximum(share, 1 - share))
        return add_up(centre, part * (counts**2 - variances), self._k)


def _coins(boxes: CountedBoxes, cut: Cut, k: int) -> Floats:
    """The largest deviation that one kept row of a box of each cluster has."""
    largest = np.zeros(k)
    if boxes.coins is not None:
        np.maximum.at(largest, cut.label, boxes.coins)
        np.maximum.at(largest, cut.other, boxes.coins[cut.box])
    return largest


def _shares(
    boxes: CountedBoxes, centres: Floats, which: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Floats]]:
    """Box, centre, and the part of the box that is nearest to the centre, for all pairs where it is any."""
    within, k = spots(boxes.dimension), len(centres)
    for part in chunks(len(which), k * len(within)):
        chosen = which[part]
        points = boxes.points[chosen, None, :] + boxes.widths[chosen, None, :] * within
        label = nearest(points.reshape(-1, boxes.dimension), centres)
        times = np.bincount(np.repeat(np.arange(len(chosen)) * k, len(within)) + label, minlength=len(chosen) * k)
        pairs = np.flatnonzero(times)
        yield chosen[pairs // k], pairs % k, times[pairs] / len(within)

"""Counting up again what zones let through in part: noisy numbers of kept rows, divided by rates. Proof: zones.md.

Everything here is free: it is told noisy numbers and public rates, and never sees rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, add_up
from covey.post.errors.boxes import CountedBoxes, laplace_variance

STANDS_OUT = 3.0  # deviations of their noise: a search counts up the rows of a zone if all it kept are more
SURE = 3.0  # e-foldings beyond the largest noise of all keys: a key that cannot be has rows all the same


@dataclass(frozen=True, eq=False)
class Keys:
    """Of each key its place, and the share of rows that its zone let through."""

    place: NDArray[np.int64]
    rate: Floats
    places: int

    @classmethod
    def of(cls, possible: NDArray[np.bool_], rates: Floats) -> Keys:
        """Of the pairs that rows can be in, (zones, places), in the order of a mask."""
        zone, place = np.nonzero(possible)
        return cls(place, rates[zone], possible.shape[1])

    def add_up(self, numbers: Floats) -> Floats:
        """The sum of the keys of each place."""
        return np.asarray(add_up(self.place, numbers, self.places))


@dataclass(frozen=True, eq=False)
class KeptCounts:
    """Noisy numbers of kept rows, one for each key: a place (a cell, a leaf, a cluster) and a zone.

    scale : of the Laplace noise of every number. keys : which they are; None where each place has one number, of all of
    its rows.
    """

    noisy: Floats
    scale: float
    keys: Keys | None = None

    @property
    def counts(self) -> Floats:
        """Noisy numbers of all rows of each place: of either sign, and right on average."""
        return self.noisy if self.keys is None else self.keys.add_up(self.noisy / self.keys.rate)

    @property
    def scales(self) -> Floats:
        """Of Laplace noise with as large a variance as the noise of each place."""
        if self.keys is None:
            return np.full(len(self.noisy), self.scale)
        return np.asarray(self.scale * np.sqrt(self.keys.add_up(self.keys.rate**-2.0)))

    @property
    def variances(self) -> Floats:
        """Of `counts`: of the noise, divided as the numbers are, and of the coins.

        Of N rows K stay, each by a coin of rate q: K/q has the variance N(1 - q)/q, and N is about K/q.
        """
        noise = laplace_variance(self.scale)
        if self.keys is None:
            return np.full(len(self.noisy), noise)
        rate = self.keys.rate
        return self.keys.add_up((noise + np.maximum(self.noisy, 0.0) * (1 - rate)) / rate**2)

    def for_search(self) -> KeptCounts:
        """The same, with rate 1 for each zone whose kept rows do not stand out of their noise all together.

        A rate of a millionth would make noise a million rows: centres would go where nobody is.
        """
        if self.keys is None:
            return self
        kinds, kind = np.unique(self.keys.rate, return_inverse=True)
        kept = add_up(kind, self.noisy, len(kinds))
        noise = np.sqrt(laplace_variance(self.scale) * np.bincount(kind, minlength=len(kinds)))
        rate = np.where((kept > STANDS_OUT * noise)[kind], self.keys.rate, 1.0)
        return replace(self, keys=replace(self.keys, rate=rate))

    def boxes(self, points: Floats, widths: Floats, *, strictness: float) -> CountedBoxes:
        """Boxes with these numbers of rows, and the law of their noise."""
        scales, coins = self.scales, None
        thresholds = strictness * scales * np.log(max(len(points), 4))
        if self.keys is not None:
            coins = np.zeros(len(points))
            np.maximum.at(coins, self.keys.place, np.sqrt(1 - self.keys.rate) / self.keys.rate)
        return CountedBoxes(points, widths, self.counts, self.variances, thresholds, scales, coins)


def likely_pairs(
    noisy: Floats, label: NDArray[np.int64], zone: NDArray[np.int64], *, scale: float
) -> NDArray[np.bool_]:
    """Which pairs (zones, places) rows can be in, given the place (-1: none) and the zone of points everywhere.

    A pair that no point fell into, but whose noisy number of rows no noise explains, counts too; and of a place that
    no point fell into, all pairs do.
    """
    likely = np.zeros(noisy.shape, dtype=np.bool_)
    there = label >= 0
    likely[zone[there], label[there]] = True
    likely[:, ~likely.any(axis=0)] = True
    return np.asarray(likely | (noisy > scale * (np.log(noisy.size) + SURE)))

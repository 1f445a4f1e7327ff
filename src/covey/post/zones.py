"""Counting up again what zones let through in part: noisy numbers of kept rows, divided by rates. Proof: zones.md.

Everything here is free: it is told noisy numbers and public rates, and never sees rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats, add_up
from covey.post.errors.boxes import CountedBoxes, laplace_variance
from covey.post.leaves import kept_weights

STANDS_OUT = 3.0  # deviations of their noise: a search counts up the rows of a zone if all it kept are more
HARMLESS = 0.5  # of all kept rows: what the noise of a zone, divided by its rate, may be
SURE = 3.0  # e-foldings beyond the largest noise of all keys: a key that cannot be has rows all the same


@dataclass(frozen=True, eq=False)
class Keys:
    """Of each key its place, and the share of rows that its zone let through.

    together : how many rows of a person one coin kept, at most: then any zone may have rows in any place. None where
    each row had its own coin.
    """

    place: NDArray[np.int64]
    rate: Floats
    places: int
    together: int | None = None

    @classmethod
    def of(cls, possible: NDArray[np.bool_], rates: Floats, together: int | None = None) -> Keys:
        """Of the pairs that rows can be in, (zones, places), in the order of a mask."""
        zone, place = np.nonzero(possible)
        return cls(place, rates[zone], possible.shape[1], together)

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
    def kept(self) -> Floats:
        """Noisy numbers of kept rows of each place."""
        return self.noisy if self.keys is None else self.keys.add_up(self.noisy)

    @property
    def scales(self) -> Floats:
        """Of Laplace noise with as large a variance as the noise of each place."""
        if self.keys is None:
            return np.full(len(self.noisy), self.scale)
        return np.asarray(self.scale * np.sqrt(self.keys.add_up(self.keys.rate**-2.0)))

    @property
    def variances(self) -> Floats:
        """Of `counts`: of the noise, divided as the numbers are, and of the coins.

        Of N rows K stay, each by a coin of rate q: K/q has the variance N(1 - q)/q, and N is about K/q. Where m rows
        share a coin, it is up to m times as large.
        """
        noise = laplace_variance(self.scale)
        if self.keys is None:
            return np.full(len(self.noisy), noise)
        rate = self.keys.rate
        coins = np.maximum(self.noisy, 0.0) * (1 - rate) * (self.keys.together or 1)
        return self.keys.add_up((noise + coins) / rate**2)

    @property
    def coins(self) -> Floats | None:
        """The largest deviation that what one coin kept of each place has; None where no coin was thrown."""
        if self.keys is None:
            return None
        largest = np.zeros(self.keys.places)
        np.maximum.at(largest, self.keys.place, np.sqrt(1 - self.keys.rate) / self.keys.rate)
        return largest * (self.keys.together or 1)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Which keys have rows: no noise explains their numbers."""
        return np.asarray(self.noisy > self.scale * (np.log(max(len(self.noisy), 4)) + SURE))

    def for_search(self) -> KeptCounts:
        """The same, with rate 1 for each zone whose kept rows do not stand out of their noise, if divided that is much.

        A rate of a millionth would make noise a million rows: centres would go where nobody is.
        """
        if self.keys is None:
            return self
        kinds, kind = np.unique(self.keys.rate, return_inverse=True)
        kept = add_up(kind, self.noisy, len(kinds))
        noise = np.sqrt(laplace_variance(self.scale) * np.bincount(kind, minlength=len(kinds)))
        harmless = noise / kinds < HARMLESS * self.noisy.sum()
        rate = np.where((harmless | (kept > STANDS_OUT * noise))[kind], self.keys.rate, 1.0)
        return replace(self, keys=replace(self.keys, rate=rate))

    def sure(self) -> KeptCounts:
        """The same, with rate 1 for each key below the largest noise of all: for places that any zone may have rows in.

        Of keys that nobody is in, some stand out of the noise by less; divided, they would be as many rows as nowhere.
        """
        if self.keys is None:
            return self
        sure = self.noisy > self.scale * np.log(max(len(self.noisy), 4)) if self.keys.together is None else self.certain
        return replace(self, keys=replace(self.keys, rate=np.where(sure, self.keys.rate, 1.0)))

    def in_places(self) -> KeptCounts:
        """As a search takes places that are not points; of people, without keys of zones that noise explains.

        Any zone may have rows in any place then, and what is kept of one that says nothing would be noise everywhere.
        """
        found = self.for_search()
        if self.keys is None or found.keys is None or self.keys.together is None:
            return found
        silent = (found.keys.rate > self.keys.rate) | (~self.certain & (self.keys.rate < 1))
        rate = np.where(silent, np.inf, self.keys.rate)
        return replace(self, keys=replace(self.keys, rate=rate))

    def standing(self, strictness: float) -> KeptCounts:
        """The same without numbers of kept rows that do not stand out of their noise."""
        return replace(self, noisy=kept_weights(self.noisy, scale=self.scale, strictness=strictness))

    def boxes(self, points: Floats, widths: Floats, *, strictness: float) -> CountedBoxes:
        """Boxes with these numbers of rows, and the law of their noise."""
        scales = self.scales
        thresholds = strictness * scales * np.log(max(len(points), 4))
        return CountedBoxes(points, widths, self.counts, self.variances, thresholds, scales, self.coins)


@dataclass(frozen=True, eq=False)
class KeptClusters:
    """Noisy numbers of kept rows of each zone and cluster, (zones, k), none negative; and the rates of the zones.

    least : what noise leaves open of a cluster's number, (k,).
    """

    kept: Floats
    rates: Floats
    least: Floats

    @classmethod
    def of(cls, standing: KeptCounts, label: NDArray[np.intp], least: Floats) -> KeptClusters:
        """From kept rows of all pairs of a zone and a place that stand out, by the cluster of each place."""
        assert standing.keys is not None
        noisy, rate = (each.reshape(-1, standing.keys.places) for each in (standing.noisy, standing.keys.rate))
        return cls(np.stack([add_up(label, numbers, len(least)) for numbers in noisy]), rate[:, 0], least)

    def factors(self, doubt: float) -> Floats:
        """What sums of kept rows are multiplied by, (zones, k): 1/rate, or less where noise would be most of it.

        doubt : the length of the noise of a cluster's sum, in rows. A factor f leaves (1/q - f)K rows out and has noise
        f·doubt: the sum of their squares is least where f is K²/(K² + doubt²) of 1/q.
        """
        squares = np.square(self.kept)
        found = squares / np.maximum(squares + doubt**2, 1e-300) / self.rates[:, None]
        found[0, ~found.any(axis=0)] = 1.0  # a cluster without rows, whose sums are noise
        return np.asarray(found)

    def weights(self, factors: Floats) -> Floats:
        """The rows behind sums that were multiplied by such factors."""
        return np.maximum((self.kept * factors).sum(axis=0), self.least * factors.max(axis=0))


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

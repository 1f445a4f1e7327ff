"""A private coreset: weighted points that answer questions about the rows for ever, at no further cost.

Everything here is free: the weights are noisy and were paid for when they were released. Distances are measured like
those of the fit: with every column scaled to [-1, 1] by the bounds (with the radius as the unit for a ball).
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from covey.errors import ParameterError
from covey.post.distances import Objective
from covey.post.kmeans import cost, weighted_kmeans
from covey.post.public_random import public_rng
from covey.post.starts import sphere_packing
from covey.public import Box
from covey.release import Release, in_full


class Coreset:
    """Points and weights that stand for the rows of a release. Weights may be negative: noise of either sign cancels.

    points : (m, d) in the units of the data. weights : (m,) noisy numbers of rows. cell : (d,) the width of the cell
    that a point is the middle of. release : the release it came with, whose certificate covers everything here.
    """

    def __init__(self, points: ArrayLike, weights: ArrayLike, *, cell: ArrayLike, release: Release) -> None:
        self.points = np.asarray(points, dtype=np.float64)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.cell = np.asarray(cell, dtype=np.float64)
        self.release = release
        self._middle, self._half = release.scale()

    @classmethod
    def of(cls, release: Release) -> Coreset:
        """The coreset of a release that kept its synopsis: fit with algorithm_params={"keep_synopsis": True}."""
        synopsis = release.synopsis
        if synopsis is None:
            raise ParameterError(
                "release", 'has no synopsis; fit with algorithm="grid", algorithm_params={"keep_synopsis": True}'
            )
        middle, half = release.scale()
        axis = (2 * np.arange(synopsis.cells_per_axis) + 1) / synopsis.cells_per_axis - 1
        places = np.meshgrid(*[axis] * len(middle), indexing="ij")
        points = np.stack([each.ravel() for each in places], axis=1) * half + middle
        return cls(points, synopsis.counts, cell=2 * half / synopsis.cells_per_axis, release=release)

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        epsilon = in_full(self.release.certificate.epsilon)
        return f"Coreset({len(self)} points in {self.points.shape[1]} columns, epsilon={epsilon})"

    def cost(self, centres: ArrayLike, *, objective: Objective = "k-means") -> float | NDArray[np.float64]:
        """The estimated cost of the rows for one set of centres (k, d), or for each of many (s, k, d)."""
        sets = np.asarray(centres, dtype=np.float64)
        if objective not in ("k-means", "k-median"):
            raise ParameterError("objective", "must be 'k-means' or 'k-median'")
        if sets.ndim not in (2, 3) or 0 in sets.shape or sets.shape[-1] != self.points.shape[1]:
            raise ParameterError("centres", f"must be points with {self.points.shape[1]} coordinates")
        if not np.isfinite(sets).all():
            raise ParameterError("centres", "must be finite numbers")
        points = self._scaled(self.points)
        many = sets if sets.ndim == 3 else sets[None]
        costs = np.array([cost(points, self.weights, self._scaled(one), objective=objective) for one in many])
        return costs if sets.ndim == 3 else float(costs[0])

    def kmeans(self, k: int, *, starts: int = 30, random_state: int | None = None) -> Release:
        """k centres of the same synopsis, for any k, as often as wanted: nothing further is spent."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ParameterError("k", "must be a whole number, at least 1")
        edge = np.ones(self.points.shape[1])
        rng = public_rng(random_state)
        clusters = weighted_kmeans(
            self._scaled(self.points),
            self.weights,
            k=int(k),
            lower=-edge,
            upper=edge,
            starts=np.stack([sphere_packing(int(k), lower=-edge, upper=edge, rng=rng) for _ in range(starts)]),
        )
        certificate = self.release.certificate
        return Release(
            objective="k-means",
            columns=self.release.columns,
            centres=(clusters.centres * self._half + self._middle).tolist(),
            sizes=clusters.sizes.tolist(),
            certificate=msgspec.structs.replace(
                certificate, parameters={**certificate.parameters, "k": int(k), "clustered_again": True}
            ),
        )

    def count(self, box: Box) -> float:
        """The estimated number of rows in a box of the same columns; a cell that is cut counts by its share."""
        columns = box.columns or tuple(self.release.columns)
        share = np.ones(len(self))
        if len(box.ranges) != len(columns) or not set(columns) <= set(self.release.columns):
            raise ParameterError("box", f"must have ranges for some of the columns {', '.join(self.release.columns)}")
        for name, (low, high) in zip(columns, box.ranges, strict=True):
            j = self.release.columns.index(name)
            left = np.maximum(self.points[:, j] - self.cell[j] / 2, low)
            right = np.minimum(self.points[:, j] + self.cell[j] / 2, high)
            share *= np.clip((right - left) / self.cell[j], 0, 1)
        return float(share @ self.weights)

    def sample(self, m: int, *, random_state: int | None = None) -> NDArray[np.float64]:
        """m made-up rows: a cell in proportion to its weight where that is positive, a uniform point in the cell."""
        if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 0:
            raise ParameterError("m", "must be a whole number, at least 0")
        rng = public_rng(random_state)
        positive = np.maximum(self.weights, 0)
        chance = positive / positive.sum() if positive.any() else np.full(len(self), 1 / len(self))
        chosen = rng.choice(len(self), size=int(m), p=chance)
        return self.points[chosen] + self.cell * (rng.random((int(m), self.points.shape[1])) - 0.5)

    def _scaled(self, points: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray((points - self._middle) / self._half, dtype=np.float64)

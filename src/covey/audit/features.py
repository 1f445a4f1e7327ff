"""What an attacker can read off a release: a line of numbers, the same for every algorithm.

Everything that is published counts: centres, sizes, weights, numeric notes of the certificate, and whether there was a
release at all. Numbers that concern the place of the person in question come first: the attacker knows that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.published.release import Release

Floats = NDArray[np.float64]
Line = dict[str, float]
NEAR = (0.3, 1.0)  # of the domain's half-width: how far around the person's place weights are added up
MOST_NOTES = 8  # numbers of a note that is a list
MOST_CENTRES = 3
REFUSED = "refused"


def of_release(release: Release, place: Sequence[float]) -> Line:
    """The line of one release; `place` is where the person in question would stand."""
    line = of_centres(np.asarray(release.centres, dtype=np.float64), release.sizes, np.asarray(place))
    for name, value in release.certificate.parameters.items():
        line |= _numbers(f"note {name}", value)
    if release.coreset is not None:
        line |= of_points(release.coreset.points, release.coreset.weights, place)
    if release.synopsis is not None:
        per_axis, counts = release.synopsis.cells_per_axis, release.synopsis.counts
        weights = np.asarray(counts, dtype=np.float64) * release.synopsis.rows_per_count
        line |= of_points(_midpoints(per_axis, len(place)), weights, place)
    return line


def of_points(points: Any, weights: Any, place: Sequence[float], name: str = "weight") -> Line:
    """Weighted points: how many, how heavy in all, and what lies around a place."""
    heavy = np.asarray(weights, dtype=np.float64)
    line = {f"{name} of all": float(heavy.sum()), f"{name}: points": float(len(heavy))}
    if not len(heavy):
        return line
    away = np.abs(np.asarray(points, dtype=np.float64).reshape(len(heavy), -1) - np.asarray(place)).max(axis=1)
    for radius in NEAR:
        line[f"{name} within {radius:g}"] = float(heavy[away <= radius].sum())
    nearest = int(away.argmin())
    return line | {
        f"{name} nearest": float(heavy[nearest]),
        f"{name}: nearest away": float(away[nearest]),
        f"{name}: largest": float(heavy.max()),
        f"{name}: smallest": float(heavy.min()),
        f"{name}: pull": float(np.maximum(heavy, 0.0) @ np.maximum(2.0 - away, 0.0)),
    }


def of_centres(centres: Floats, sizes: Sequence[float] | None, place: Floats) -> Line:
    """Centres, those next to the place first, and their sizes if there are any."""
    away = np.square(centres - place).sum(axis=1)
    order = np.argsort(away)
    line = {"centres: nearest away": float(np.sqrt(away.min())), "centres: mean": float(centres.mean())}
    for rank, i in enumerate(order[:MOST_CENTRES]):
        line |= {f"centre {rank}.{j}": float(x) for j, x in enumerate(centres[i][:MOST_NOTES])}
    if sizes is not None:
        line["size of all"] = float(np.sum(sizes))
        line |= {f"size {rank}": float(sizes[i]) for rank, i in enumerate(order[:MOST_CENTRES])}
    return line


def _numbers(name: str, value: Any) -> Line:
    if isinstance(value, bool | int | float):
        return {name: float(value)}
    if isinstance(value, Mapping):
        return {key: number for each, one in value.items() for key, number in _numbers(f"{name} {each}", one).items()}
    if isinstance(value, list | tuple):
        parts = [_numbers(f"{name} {i}", each) for i, each in enumerate(value[:MOST_NOTES])]
        return {f"{name}: how many": float(len(value))} | {
            key: number for part in parts for key, number in part.items()
        }
    return {}


def _midpoints(per_axis: int, dimension: int) -> Floats:
    """The cells' middles in [-1, 1]^d; the last column's cells come fastest."""
    axis = (np.arange(per_axis) + 0.5) * 2 / per_axis - 1
    return np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)


def matrix(lines: Iterable[Line], names: Sequence[str]) -> Floats:
    """Lines under common names; what a line lacks is not a number."""
    return np.array([[line.get(name, np.nan) for name in names] for line in lines], dtype=np.float64)

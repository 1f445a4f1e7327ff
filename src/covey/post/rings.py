"""Rays and rings around centres: where the slots of a z-centred coreset are, and how far off its costs can be. Free.

Feldman, Fiat, Kaplan, Nissim 2009, §4.1-4.3. Everything here is geometry of public or released numbers.
"""

from dataclasses import dataclass
from itertools import product
from math import acos, asin, atan, ceil, cos, log, sqrt

import numpy as np
from numpy.typing import NDArray

from covey.post.distances import Floats

RAY = 2**14  # the length of a ray, in whole numbers
NEIGHBOURS = 64  # of a centre: only these are asked how far its cell reaches, which can only keep too many slots


def rays_in(d: int, steps: int) -> int:
    """How many rays `make_rays` makes."""
    return int((2 * steps + 1) ** d - (2 * steps - 1) ** d)


def make_rays(d: int, steps: int) -> NDArray[np.int64]:
    """Directions through the points of a grid on the surface of the cube: 2·steps + 1 points along each axis."""
    surface = [p for p in product(range(-steps, steps + 1), repeat=d) if max(map(abs, p)) == steps]
    points = np.array(surface, dtype=np.float64)
    return np.rint(RAY * points / np.sqrt(np.square(points).sum(axis=1, keepdims=True))).astype(np.int64)


def widest_angle(d: int, steps: int) -> float:
    """No direction is farther than this from the ray that is chosen for it.

    The nearest point of the surface grid is within h = √(d-1)/(2·steps) of a direction prolonged to the surface;
    both are at least 1 long, so the angle is at most 2·asin(h/2). For d = 2 half the largest gap is less. Rounding
    turns a ray by at most √d/2 over its length and changes its length by as much: the largest product u·y may belong
    to another ray than the nearest, but then cos(u, y) >= |w|/|u|·cos(w, y) for the nearest one, w.
    """
    if d == 1:
        return 0.0
    angle = atan(1 / steps) / 2 if d == 2 else 2 * asin(min(1.0, sqrt(d - 1) / (4 * steps)))
    off = sqrt(d) / 2
    return float(acos((RAY - off) / (RAY + off) * cos(angle + 1.01 * off / RAY)))


def make_radii(*, inner: float, outer: float, growth: float, most: int) -> Floats:
    """Radii from `inner` on, each 1 + growth times the one before; `outer` is inside the last. At most `most` rings."""
    inner = min(max(inner, 1.0), outer)
    rings = max(1, min(most, ceil(log(outer / inner) / log(1 + growth) - 1e-9)))
    inner = outer / (1 + growth) ** rings if rings == most else inner
    return np.asarray(inner * (1 + growth) ** np.arange(rings, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Rings:
    """The slots around centres, in lattice units. Slots that no point of the box can fall into are left out."""

    centres: NDArray[np.int64]  # m x d
    rays: NDArray[np.int64]  # r x d
    squares: NDArray[np.int64]  # t: ring i has squared distances above squares[i], up to squares[i + 1]
    place: NDArray[np.int64]  # m x r x t: the number of a slot, or -1
    points: Floats  # slots x d: where a slot's rows are moved to
    centre_of: NDArray[np.intp]  # slots
    moved: Floats  # slots: no row of the slot is moved farther
    last: Floats  # slots: no row of the slot is farther from its centre

    @property
    def inner(self) -> float:
        """Rows no farther from their centre than this are moved to it."""
        return sqrt(float(self.squares[0]))


def make_rings(centres: NDArray[np.int64], *, limit: float, steps: int, radii: Floats) -> Rings:
    """All slots that a point of the cube [-limit, limit]^d can fall into."""
    d = centres.shape[1]
    rays, angle = make_rays(d, steps), widest_angle(d, steps)
    squares = np.unique(np.floor(np.square(radii)).astype(np.int64))
    reach = _reach(centres, rays, angle, limit)  # m x r
    if np.square(reach.max()) <= squares[0]:  # the first ring is beyond all rows: one nearer ring, so that there is one
        squares = np.floor(np.square(reach.max(keepdims=True)[0] / 2)).astype(np.int64)
    low = np.sqrt(squares.astype(np.float64))
    high = np.append(low[1:], np.inf)
    hit = low < reach[:, :, None] * (1 + 1e-9) + 1e-6
    place = np.where(hit, np.cumsum(hit.ravel()).reshape(hit.shape) - 1, -1)
    centre, ray, ring = np.nonzero(hit)
    first, last = low[ring], np.minimum(high[ring], reach[centre, ray])
    middle = (first + last) / 2
    unit = rays / np.sqrt(np.square(rays).sum(axis=1, keepdims=True))
    points = np.clip(centres[centre] + middle[:, None] * unit[ray], -limit, limit)  # into the cube: nearer to its rows
    ends = np.stack([first, last])
    moved = np.sqrt(np.maximum(np.square(ends) + middle**2 - 2 * ends * middle * cos(angle), 0)).max(axis=0)
    return Rings(centres, rays, squares, place, points, centre, moved, last)


def _reach(centres: NDArray[np.int64], rays: NDArray[np.int64], angle: float, limit: float) -> Floats:
    """How far from each centre, along each ray and within its angle, a point of the cube can be and still be nearest
    to that centre: from the walls, and from the half-spaces of the nearest other centres. Never too small."""
    m, d = centres.shape
    unit = rays / np.sqrt(np.square(rays).sum(axis=1, keepdims=True))
    c = centres.astype(np.float64)
    reach = np.full((m, len(rays)), 2 * limit * sqrt(d))
    for axis in range(d):
        for sign in (-1.0, 1.0):
            room = limit - sign * c[:, axis]
            reach = np.minimum(reach, _until(sign * unit[:, axis], angle, room[:, None]))
    for i in range(m):
        others = np.delete(c, i, axis=0) - c[i]
        length = np.sqrt(np.square(others).sum(axis=1))
        near = np.argsort(length, kind="stable")[:NEIGHBOURS]
        near = near[length[near] > 0]
        if len(near):
            along = unit @ (others[near] / length[near, None]).T  # r x neighbours
            reach[i] = np.minimum(reach[i], _until(along, angle, length[near] / 2).min(axis=1))
    return reach


def _until(cosine: Floats, angle: float, room: Floats) -> Floats:
    """The largest |y| with y·v <= room for a unit vector v, if the angle from y to a ray is at most `angle` and the
    ray has this cosine with v."""
    widest = np.minimum(np.arccos(np.clip(cosine, -1, 1)) + angle, np.pi)
    least = np.cos(widest)
    return np.where(least > 1e-9, room / np.maximum(least, 1e-9), np.inf)

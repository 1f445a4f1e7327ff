"""Hard pairs of neighbouring data sets: twelve families, each aimed at a place where a private algorithm may slip.

A pair is the rows that both data sets have, and one person. Under add/remove the person is there or not; under
replace-one the person's row becomes another one. In some families the row is chosen after the first run, at a spot that
matters to what was released: neighbours may be anything, so they may be that as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.public import Domain, Neighbours

Floats = NDArray[np.float64]
Rng = Any  # a numpy generator of public randomness; that library is named in post/ alone
THRESHOLDS = (
    15,
    16,
    17,
    24,
    31,
    32,
    33,
    48,
    63,
    64,
    65,
    96,
    99,
    100,
    101,
    127,
    128,
    129,
    199,
    200,
    255,
    256,
    257,
    400,
    512,
)
ROWS_PER_PERSON = 2  # the cap in the family of persons


@dataclass(frozen=True)
class Seen:
    """What a first run has shown: centres and grids that it asked about, or released, in the units of the data."""

    centres: Floats  # m x d
    per_axis: tuple[int, ...] = ()


Row = Floats | Callable[[Seen], Floats]


@dataclass(frozen=True)
class Pair:
    """Rows that both data sets have; the person's row; what that row becomes under replace-one; where it stands.

    ids, persons: with several rows per person, who each row belongs to, and the person's rows.
    """

    rows: Floats
    person: Row
    other: Floats
    place: int = 0
    ids: tuple[str, ...] | None = None
    persons: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def follows(self) -> bool:
        """Whether the person's row is chosen after the first run, which is then without it."""
        return callable(self.person)


@dataclass(frozen=True)
class Family:
    """make(generator, columns, seed): a pair. The generator was made from the seed."""

    name: str
    make: Callable[[Rng, int, int], Pair]
    relations: tuple[Neighbours, ...] = tuple(Neighbours)
    people: bool = False  # whether a person has several rows


def _cloud(rng: Rng, d: int) -> Floats:
    return np.asarray(rng.uniform(-0.9, 0.9, (int(rng.integers(40, 200)), d)))


def _corner(rng: Rng, d: int) -> Floats:
    return np.asarray(rng.choice([-1.0, 1.0], d))


def _placed(rng: Rng, rows: Floats, person: Row, other: Floats) -> Pair:
    return Pair(rows, person, other, int(rng.integers(0, len(rows) + 1)))


def into_an_empty_cluster(rng: Rng, d: int, _: int) -> Pair:
    """All rows are close together; one appears in a far corner."""
    rows = rng.uniform(-0.5, 0.5, d) + _cloud(rng, d) * 0.1
    return _placed(rng, rows, _corner(rng, d), rows[0])


def last_of_a_cluster(rng: Rng, d: int, _: int) -> Pair:
    """A cluster of one row, which leaves."""
    rows = np.repeat(np.full((1, d), 0.25), int(rng.integers(30, 150)), axis=0)
    return _placed(rng, rows, np.full(d, -0.75), rows[0])


def corner_to_corner(rng: Rng, d: int, _: int) -> Pair:
    corner = _corner(rng, d)
    return _placed(rng, _cloud(rng, d), corner, -corner)


def on_a_bisector(rng: Rng, d: int, _: int) -> Pair:
    """Half-way between two centres that were asked about."""
    sides = rng.choice([-0.5, 0.5], (100, 1)) * np.ones(d)

    def between(seen: Seen) -> Floats:
        chosen = rng.choice(len(seen.centres), 2)
        return np.asarray(seen.centres[chosen].mean(axis=0))

    return _placed(rng, sides, between, sides[0])


def on_a_border(rng: Rng, d: int, _: int) -> Pair:
    """On the border of cells that were asked about, or of the unit ball."""
    cloud = _cloud(rng, d)

    def border(seen: Seen) -> Floats:
        if not seen.per_axis or rng.random() < 0.3:
            direction = rng.normal(size=d)
            return np.asarray(direction / np.sqrt((direction**2).sum()))
        cells = int(rng.choice(seen.per_axis))
        return np.asarray(2 * rng.integers(0, cells + 1, d) / cells - 1)

    return _placed(rng, cloud, border, cloud[0])


def duplicates(rng: Rng, d: int, _: int) -> Pair:
    """All rows are equal, the person's too."""
    rows = np.repeat(rng.uniform(-1, 1, (1, d)), int(rng.integers(2, 200)), axis=0)
    return _placed(rng, rows, rows[0], _corner(rng, d))


def at_a_rounding_threshold(rng: Rng, d: int, seed: int) -> Pair:
    """A number of rows at which something that is rounded may change: every one of them in turn."""
    rows = rng.uniform(-1, 1, (THRESHOLDS[seed % len(THRESHOLDS)] - 1, d))
    return _placed(rng, rows, _corner(rng, d), rows[0])


def none_against_one(rng: Rng, d: int, _: int) -> Pair:
    return Pair(np.empty((0, d)), rng.choice([-1.0, -0.3, 0.0, 0.5, 1.0], d), _corner(rng, d))


def at_a_centre(rng: Rng, d: int, _: int) -> Pair:
    """Exactly at z, a centre around which rows were counted."""
    cloud = _cloud(rng, d)
    return _placed(rng, cloud, lambda seen: np.asarray(rng.choice(seen.centres)), cloud[0])


def newly_covered(rng: Rng, d: int, _: int) -> Pair:
    """In a cell where nobody was, while all others share a few cells."""
    few = rng.uniform(-0.9, 0.2, (3, d))
    rows = few[rng.integers(0, 3, int(rng.integers(30, 150)))]
    return _placed(rng, rows, rng.uniform(0.4, 1.0, d), rows[0])


def not_numbers(rng: Rng, d: int, _: int) -> Pair:
    """NaN, infinities and minus zero; some of the others have them too."""
    strange = [np.nan, np.inf, -np.inf, -0.0, 1e308, 5e-324, 0.3]
    cloud = _cloud(rng, d)
    some = rng.random(cloud.shape) < 0.05
    cloud[some] = rng.choice(strange, int(some.sum()))
    person = rng.choice(strange[:4], d) if rng.random() < 0.5 else np.full(d, rng.choice(strange[:4]))
    return _placed(rng, cloud, person, rng.choice([0.0, 0.3, np.nan], d))


def beyond_the_cap(rng: Rng, d: int, _: int) -> Pair:
    """A person with one row more than the cap, far from the others; some others are beyond it too."""
    many = int(rng.integers(20, 60))
    of = np.sort(rng.integers(0, many, 2 * many))
    rows = rng.uniform(-0.5, 0.5, (2 * many, d))
    persons = rng.choice([-1.0, 1.0, 0.9], (ROWS_PER_PERSON + 1, d))
    place = int(rng.integers(0, len(rows) + 1))
    return Pair(rows, persons[0], persons[0], place, tuple(f"p{each}" for each in of), persons)


FAMILIES: tuple[Family, ...] = (
    Family("a corner into an empty cluster", into_an_empty_cluster),
    Family("the last row of a cluster", last_of_a_cluster),
    Family("corner to corner", corner_to_corner),
    Family("on a bisector", on_a_bisector),
    Family("on a cell or ball border", on_a_border),
    Family("n duplicates", duplicates),
    Family("n at a rounding threshold", at_a_rounding_threshold),
    Family("none against one", none_against_one),
    Family("a row at z", at_a_centre),
    Family("an uncovered cell newly covered", newly_covered),
    Family("NaN, inf, -0.0", not_numbers),
    Family("a person beyond the cap", beyond_the_cap, (Neighbours.ADD_REMOVE,), people=True),
)


def seen_in(queries: Sequence[Any], released: Sequence[Sequence[float]] | None, domain: Domain) -> Seen:
    """The centres and grids of the questions that a run asked about all columns, and the centres that it released."""
    centres, per_axis = [np.zeros((1, domain.dimension))], []
    if released:
        centres.append(np.asarray(released, dtype=np.float64))
    for query in queries:
        points = getattr(query, "centres", None)
        if points is not None and query.domain == domain and np.ndim(points) >= 2:
            places = np.asarray(points, dtype=np.float64).reshape(-1, domain.dimension)
            centres.append(domain.from_lattice(places[:32]))
        grid = getattr(query, "grid", None)
        if grid is not None and grid.domain == domain:
            per_axis.append(int(grid.per_axis))
    return Seen(np.concatenate(centres), tuple(sorted(set(per_axis))))

"""The sets on which intervals are tried: those of `covey bench utility` up to 16 columns, and others.

The constants of src/covey/post/errors were chosen with rows of s1, s4, unbalance, birch2, gowalla, california_roads,
nyc and sf pickups, house_rgb and part of world_cities in view; later those for light boxes with s2 and those for the
edge of the domain with md_salary, and those of places and the excess with twitter_west. a3, birch1, flights and geolife
had no part in that; the first two are relatives of sets that had.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from covey.bench.sets import UTILITY, DataSet, Floats, Ranges, load

_BAY = (("pickup_lon", -122.75, -121.9), ("pickup_lat", 37.2, 38.1))
_WORLD = (("lon", -180.0, 180.0), ("lat", -90.0, 90.0))
_CELLS = (("x", 0.0, 255.0), ("y", 0.0, 255.0))


def _square(side: float) -> Ranges:
    return ("x", 0.0, side), ("y", 0.0, side)


OTHERS = (
    DataSet(name="s2", file="s2", bounds=_square(1e6), k=15),
    DataSet(name="s4", file="s4", bounds=_square(1e6), k=15),
    DataSet(name="a3", file="a3", bounds=_square(65_535.0), k=50),
    DataSet(name="birch1", file="birch1", bounds=_square(1e6), k=100),
    DataSet(name="world_cities", file="world_cities", bounds=_WORLD, k=10),
    DataSet(name="sf_pickups", file="sf_cab_trips", bounds=_BAY, k=8, first=100_000),
    DataSet(
        name="flights",
        file="flights_3m",
        bounds=(("minute_of_day", 0.0, 1439.0), ("delay_min", -60.0, 300.0), ("distance_mi", 0.0, 5000.0)),
        k=6,
        first=200_000,
    ),
    DataSet(name="geolife", file="geolife_sample", bounds=(("lon", 73.0, 135.0), ("lat", 18.0, 54.0)), k=5),
    DataSet(name="md_salary", file="dpbench_grids", part="md_salary", bounds=_CELLS, k=5),
    DataSet(name="twitter_west", file="dpbench_grids", part="twitter_west_usa", bounds=_CELLS, k=8),
)
SUITE = (*(each for each in UTILITY if each.dimension <= 16), *OTHERS)


def find_set(name: str) -> DataSet:
    return next(each for each in SUITE if each.name == name)


@lru_cache(maxsize=2)
def rows_of(name: str, n: int | None, data: Path | None) -> Floats:
    """The rows of a set; with `n`, so many made-up ones of as many columns and clusters."""
    return load(find_set(name), data, rows=n)

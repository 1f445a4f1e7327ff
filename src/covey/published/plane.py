"""The two columns that are drawn of what is published, for maps, pages and files. From the release alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.geo.areas import WORLD
from covey.geo.borders import region_features
from covey.geo.geojson import find_axes, is_map
from covey.published.certificate import scale_of
from covey.published.show import corners

if TYPE_CHECKING:
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release


@dataclass(frozen=True, kw_only=True)
class Plane:
    """Which columns go to the right and upwards, and between which ends; of one column alone, the second is None.

    half : of each column, what distances are measured in. geographic : whether they are longitude and latitude.
    """

    columns: tuple[str, ...]
    lower: Sequence[float]
    upper: Sequence[float]
    half: Sequence[float]
    axes: tuple[int, int | None]
    geographic: bool

    @classmethod
    def of(cls, published: Release | Coreset, *, lon: str | None = None, lat: str | None = None) -> Plane:
        columns, domain = tuple(published.columns), published.certificate.domain
        lower, upper = corners(domain)
        axes, geographic = drawn_axes(columns, lower, upper, lon=lon, lat=lat)
        half = scale_of(domain)[1].tolist()
        return cls(columns=columns, lower=lower, upper=upper, half=half, axes=axes, geographic=geographic)

    @property
    def beyond(self) -> bool:
        """Whether the columns are called longitude and latitude, and go beyond the world's ends."""
        return not self.geographic and self.axes[1] is not None and is_map(self.names)

    @property
    def names(self) -> list[str]:
        """Of the columns that are drawn."""
        return [self.columns[axis] for axis in self.axes if axis is not None]

    @property
    def frame(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top: the public bounds."""
        east, north = self.axes
        bottom, top = (-1.0, 1.0) if north is None else (self.lower[north], self.upper[north])
        return self.lower[east], bottom, self.upper[east], top

    def flat(self, points: Any) -> NDArray[np.float64]:
        """The two coordinates of (n, d) points that are drawn."""
        table = np.asarray(points, dtype=np.float64).reshape(-1, len(self.columns))
        east, north = self.axes
        return np.stack([table[:, east], np.zeros(len(table)) if north is None else table[:, north]], axis=1)

    def regions(self, centres: Any) -> list[dict[str, Any]]:
        """What is nearest to each centre, as the fit measures, within the bounds: GeoJSON polygons, with its number.

        Of more or fewer than two columns there are none to draw.
        """
        east, north = self.axes
        if len(self.columns) != 2 or north is None:
            return []
        ends = [[side[east], side[north]] for side in (self.lower, self.upper, self.half)]
        return region_features(self.flat(centres), *ends)


def drawn_axes(
    columns: Sequence[str], lower: Sequence[float], upper: Sequence[float], *, lon: str | None, lat: str | None
) -> tuple[tuple[int, int | None], bool]:
    """Which columns are drawn, and whether they are longitude and latitude: by their names, within the world's ends."""
    try:
        east, north = find_axes(columns, lon, lat)
    except ParameterError:
        if lon is not None or lat is not None:
            raise
        return (0, 1 if len(columns) > 1 else None), False
    on_earth = all(
        max(abs(lower[axis]), abs(upper[axis])) <= most for axis, most in zip((east, north), WORLD, strict=True)
    )
    return (east, north), on_earth

"""A coreset as a file, a table, a picture and a page: what every coreset can become."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covey.published.coreset.coreset import Coreset


class Outputs:
    """The methods of a coreset that hand it on."""

    def save(self: Any, path: str | os.PathLike[str]) -> None:
        """Write the coreset as .json or .parquet, whole or not at all; both are readable without Covey."""
        from covey.published.coreset.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Coreset:
        """Read a coreset that was saved, or a release that holds one."""
        from covey.published.coreset.files import load

        return load(path)

    def to_geojson(self: Any, *, lon: str | None = None, lat: str | None = None) -> dict[str, Any]:
        """The points with their weights, for any map; negative weights are marked as such."""
        from covey.published.coreset.files import to_geojson

        return to_geojson(self, lon=lon, lat=lat)

    def to_frame(self: Any) -> Any:
        """A pandas table with a row for each point: its place, weight, and the widths of its cell."""
        from covey.published.frame import frame_of

        return frame_of(self)

    def plot(self: Any, ax: Any = None, *, lon: str | None = None, lat: str | None = None) -> Any:
        """Draw the points on axes of matplotlib (new ones, if none are given), and return the axes."""
        from covey.published.draw import plot

        return plot(self, ax, lon=lon, lat=lat)

    def _repr_html_(self: Any) -> str:
        from covey.published.report import fragment

        return fragment(self)

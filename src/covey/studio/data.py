"""The data set that is open: where its rows are, what was declared about them, and which columns make the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.geo.metric import measured
from covey.private.tables.frames import open_table
from covey.public import Ball, Bounds, Box, Domain, Person
from covey.published.plane import Plane, drawn_axes
from covey.published.show import corners
from covey.studio.settings import ROW


@dataclass(frozen=True, kw_only=True)
class Opened:
    """Rows that nobody has looked at, and everything public about them.

    axes : the columns drawn to the right and upwards; of one column alone, the second is None. geographic : whether
    they are longitude and latitude. dataset : whose budget a look is charged to. person : whose a row is.
    missing, scale : as a fit takes them.
    """

    source: Any = field(repr=False)
    name: str
    bounds: Bounds
    domain: Domain
    axes: tuple[int, int | None]
    geographic: bool
    dataset: str
    person: Person = ROW
    missing: str = "middle"
    scale: dict[str, float] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.domain.names

    @property
    def map_names(self) -> tuple[str, str] | tuple[None, None]:
        """The names of longitude and latitude, where the data is on a map."""
        east, north = self.axes
        return (self.columns[east], self.columns[north]) if self.geographic and north is not None else (None, None)

    @property
    def asked(self) -> dict[str, Any]:
        """What every fit of it is asked for besides its bounds, by the names of `fit`."""
        who = {"person": self.person.column, "rows_per_person": self.person.rows}
        return {**who, "missing": self.missing, "scale": self.scale}

    def corners(self) -> tuple[list[float], list[float]]:
        """The lower and upper end of every column's public range."""
        if isinstance(self.bounds, Box) and len(self.bounds.ranges) == self.domain.dimension:  # as they were declared
            return [low for low, _ in self.bounds.ranges], [high for _, high in self.bounds.ranges]
        return corners(self.domain.describe())

    @property
    def plane(self) -> Plane:
        """The columns that are drawn, between their public ends."""
        lower, upper = self.corners()
        return Plane(
            columns=self.columns,
            lower=lower,
            upper=upper,
            half=self.domain.unit.tolist(),
            axes=self.axes,
            geographic=self.geographic,
        )

    def flat(self, points: Any) -> NDArray[np.float64]:
        """The two coordinates of (n, d) points that are drawn."""
        return self.plane.flat(points)

    def full(self, points: Sequence[Sequence[float]], *, name: str) -> list[list[float]]:
        """Points as a client gives them, (x, y) of a map or one number per column, in the order of the columns."""
        d = self.domain.dimension
        if d == 2 and all(len(point) == 2 for point in points):
            return [[x, y] if self.axes == (0, 1) else [y, x] for x, y in points]
        if any(len(point) != d for point in points):
            names = ", ".join(self.columns)
            raise ParameterError(name, f"must be points of {d} numbers each: {names}")
        return [list(point) for point in points]

    def describe(self) -> dict[str, Any]:
        lower, upper = self.corners()
        return {
            "name": self.name,
            "columns": list(self.columns),
            "geographic": self.geographic,
            "lon": self.axes[0],
            "lat": self.axes[1],
            "bounds": {"lower": lower, "upper": upper},
            "unit": self.domain.unit.tolist(),  # what distances are measured in
        }


def open_data(
    source: Any,
    *,
    bounds: Any,
    name: str,
    dataset: str,
    lon: str | None = None,
    lat: str | None = None,
    person: Person = ROW,
    missing: str = "middle",
    scale: dict[str, float] | None = None,
) -> Opened:
    """Declare data: its columns and types are read, no row is, and the bounds are the user's own."""
    if isinstance(bounds, Ball):
        raise ParameterError("bounds", "must be a range for each column: a map has edges")
    table = open_table(source)
    domain = measured(bounds, scale, person=person, names=table.names, width=table.width)
    table.check_numeric(domain.columns if table.names is not None else None)
    if person.column is not None:
        table.check_person(person.column)
    axes, geographic = drawn_axes(domain.names, *corners(domain.describe()), lon=lon, lat=lat)
    return Opened(
        source=source,
        name=name,
        bounds=bounds,
        domain=domain,
        axes=axes,
        geographic=geographic,
        dataset=dataset,
        person=person,
        missing=missing,
        scale=scale,
    )


def declared_box(columns: Sequence[str] | None, lower: Sequence[float], upper: Sequence[float]) -> Box:
    """The bounds that a client declared."""
    if len(lower) != len(upper) or (columns is not None and len(columns) != len(lower)):
        raise ParameterError("bounds", "lower and upper must have one number for each column")
    pairs = list(zip(lower, upper, strict=True))
    if columns is None:
        return Box(*pairs)
    if len(set(columns)) != len(columns):
        raise ParameterError("columns", "must have different names")
    return Box.of(dict(zip(columns, pairs, strict=True)))


def chosen_columns(asked: Sequence[str] | None, there: Sequence[str], person: Person) -> list[str]:
    """The columns of an upload that a client asked for; or all of them, but not the one that says whose a row is."""
    wanted = list(asked) if asked else [name for name in there if name != person.column]
    if any(name not in there for name in wanted):
        raise ParameterError("columns", f"the upload has no such column; it has {', '.join(there)}")
    if person.column in wanted:
        raise ParameterError("columns", f"{person.column!r} says whose a row is; choose others")
    return wanted


def batch_bounds(width: int | None, columns: Sequence[str] | None, ends: Any, *, usual: Any) -> Any:
    """The bounds of batches with so many columns: those that a client declared, or the usual ones."""
    if width is None or (ends is None and usual is not None):
        return usual
    if ends is None:
        raise ParameterError("bounds", "must be declared: lower and upper, public limits of each column")
    bounds = declared_box(columns or None, *ends)
    if len(bounds.ranges) != width:
        raise ParameterError("bounds", f"must have {width} ranges, as many as the batches have columns")
    return bounds

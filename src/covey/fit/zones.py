"""Zones: public regions whose rows are promised more. What `zones=` means; docs/guide/zones.md is the guide.

A zone with epsilon ε_z keeps each of its rows with probability q = (e^ε_z - 1)/(e^ε - 1), rounded down to a multiple of
2^-64, before anything else happens; under add/remove such a row then enjoys (ε_z, q·δ). Proof: private/narrowed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.promise import Promise, ZonePromises
from covey.errors import FormatError, ParameterError
from covey.events import exactly, float_at_least
from covey.fit.witness import find_rows
from covey.geo.areas import Area, Regions, check_world
from covey.geo.buffers import buffered, check_degrees, metres_of
from covey.geo.geojson import Region, find_axes, read_json
from covey.geo.rates import ZoneRates
from covey.noise.coins import Probability, exp_bounds
from covey.noise.source import Source, new_key
from covey.private.narrowed.missing import MIDDLE
from covey.private.narrowed.zones import ALWAYS, Coins, ZonedTable
from covey.private.tables.base import Table
from covey.public import Box, Domain, Neighbours, Person
from covey.published.zones import zones_note

MOST_ZONES, MOST_KINDS, MOST_EDGES = 1_000, 64, 100_000
FARTHEST = 1e6  # half-widths of the domain: a corner beyond is in other units


def keeping(zone: Fraction, whole: Fraction) -> int:
    """How many of 2^64 words keep a row: the floor of 2^64·(e^zone - 1)/(e^whole - 1), certified.

    With zone = whole it is 2^64. Otherwise the quotient e^-(whole - zone)·(1 - e^-zone)/(1 - e^-whole) is a
    non-constant rational function of e^(1/m), hence no binary fraction, and its digits can be certified.
    """
    if zone == whole:
        return ALWAYS

    def bounds(bits: int) -> tuple[int, int]:
        work = bits + 64
        one = 1 << work
        less, more = exp_bounds(whole - zone, work)
        (low, high), (low_, high_) = exp_bounds(zone, work), exp_bounds(whole, work)
        if high_ >= one or high >= one:
            return 0, 1 << bits
        least = (less * (one - high) << bits) // (one - low_) >> work
        most = -((-more * (one - low) << bits) // (one - high_) >> work)
        return least, min(most, 1 << bits)

    return Probability(bounds).leading(64)


@dataclass(frozen=True, eq=False)
class Zone:
    """A public region with its own, stricter epsilon. in_metres : it reaches some metres around shapes on a map."""

    name: str
    epsilon: Fraction
    region: Region | Box
    in_metres: bool = False


@dataclass(frozen=True, eq=False)
class Zones:
    """Zones as the user declares them. Where they overlap, the strictest counts. `Zones.read` makes them.

    Parameters
    ----------
    zones : tuple of Zone
        A name, an epsilon and a region each.
    lon : str or None, default=None
        The column that holds the longitudes of polygons; None to find it by its name.
    lat : str or None, default=None
        The same for latitudes.

    Examples
    --------
    >>> from covey import Box, Zones
    >>> [zone.name for zone in Zones.read([(Box(lon=(-74.02, -74.0), lat=(40.7, 40.72)), 0.1)]).zones]
    ['zone 1']
    """

    zones: tuple[Zone, ...]
    lon: str | None = None
    lat: str | None = None

    @classmethod
    def read(cls, source: Any, *, lon: str | None = None, lat: str | None = None) -> Zones:
        """Zones from GeoJSON (a document or the path of a file) or from pairs of a Box and an epsilon.

        Parameters
        ----------
        source : dict, str, path, list of pairs, or Zones
            In GeoJSON every Feature is a zone: a Polygon or MultiPolygon with a property "epsilon", or "level" with
            the name of a usual privacy level; "name" is shown in certificates. With a property "buffer_metres": any
            shape, and all within that distance.
        lon : str or None, default=None
            The column that holds the longitudes of polygons; None to find it by its name.
        lat : str or None, default=None
            The same for latitudes.
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, str | os.PathLike):
            source = read_json(source, "zones")
        if isinstance(source, Mapping):
            found = [_feature(each, i) for i, each in enumerate(_features(source), start=1)]
        elif isinstance(source, Sequence):
            found = [_pair(each, i) for i, each in enumerate(source, start=1)]
        else:
            raise ParameterError("zones", "must be GeoJSON, the path of a GeoJSON file, or pairs of a Box and epsilon")
        if not 1 <= len(found) <= MOST_ZONES:
            raise ParameterError("zones", f"must be at least one zone, and at most {MOST_ZONES}")
        if len({each.epsilon for each in found}) > MOST_KINDS:
            raise ParameterError("zones", f"have more than {MOST_KINDS} different epsilons; use fewer")
        return cls(tuple(found), lon, lat)

    def on(self, domain: Domain) -> Regions:
        """The zones on the lattice of a domain, the strictest first."""
        kinds = sorted({each.epsilon for each in self.zones})
        areas = tuple(self._area(domain, [each for each in self.zones if each.epsilon == kind]) for kind in kinds)
        if sum(len(edges) for area in areas for edges in area.polygons) > MOST_EDGES:
            raise ParameterError("zones", f"have more than {MOST_EDGES:,} corners; simplify the polygons")
        return Regions(domain, areas)

    def witnesses(self, regions: Regions) -> Iterator[NDArray[np.float64] | None]:
        """For each zone a row that gets its epsilon, and last a row in no zone; None where none can be found."""
        return find_rows(regions, [self._area(regions.domain, [each]) for each in self.zones])

    def _area(self, domain: Domain, zones: Sequence[Zone]) -> Area:
        """Zones of one epsilon."""
        mine = [each.region for each in zones]
        regions = [each for each in mine if isinstance(each, Region)]
        axes = self._axes(domain) if regions else (0, 0)
        if any(each.in_metres for each in zones):
            check_degrees(domain, axes, named=None not in (self.lon, self.lat), name="zones")
        check_world(regions, domain, axes)
        polygons = [_on_lattice(edges, domain, axes) for region in regions for edges in region.polygons]
        boxes = [_box_on_lattice(each, domain) for each in mine if isinstance(each, Box)]
        corners = np.array(boxes, dtype=np.float64).reshape(len(boxes), 2, domain.dimension)
        return Area(domain, zones[0].epsilon, tuple(polygons), axes, corners)

    def _axes(self, domain: Domain) -> tuple[int, int]:
        if domain.dimension == 2 and self.lon is None and self.lat is None and domain.columns is None:
            return 0, 1
        try:
            return find_axes(domain.names, self.lon, self.lat)
        except ParameterError:
            raise ParameterError(
                "zones",
                "polygons need to know which columns are longitude and latitude: covey.Zones.read(source, lon=, lat=), "
                f"or --lon and --lat; there are {', '.join(map(repr, domain.names))}",
            ) from None

    @property
    def fingerprint(self) -> str:
        """A hash of all zones as they were declared, in whatever order."""
        parts = sorted(json.dumps([str(each.epsilon), each.name, _plain(each.region)]) for each in self.zones)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _plain(region: Region | Box) -> Any:
    return [region.columns, region.ranges] if isinstance(region, Box) else [each.tolist() for each in region.polygons]


def _features(document: Mapping[str, Any]) -> list[Any]:
    kind = document.get("type")
    features = [document] if kind == "Feature" else document.get("features")
    if kind not in ("Feature", "FeatureCollection") or not isinstance(features, list):
        raise FormatError("zones: must be a GeoJSON FeatureCollection whose features have an epsilon each")
    return features


def _feature(feature: Any, number: int) -> Zone:
    properties = feature.get("properties") if isinstance(feature, Mapping) else None
    if not isinstance(properties, Mapping):
        raise FormatError(f"zones: feature {number} needs a property 'epsilon', or 'level'")
    name, metres = properties.get("name"), metres_of(properties, name="zones")
    return Zone(
        name.encode(errors="replace").decode() if isinstance(name, str) else f"zone {number}",
        _epsilon(properties, number),
        Region.read(feature if metres is None else buffered(feature, metres, name="zones"), name="zones"),
        in_metres=metres is not None,
    )


def _epsilon(properties: Mapping[str, Any], number: int) -> Fraction:
    from covey.published.levels.levels import USUAL_LEVELS

    usual = {level.name: level.epsilon for level in USUAL_LEVELS}
    level = properties.get("level")
    if properties.get("epsilon") is not None:  # of both the stricter one; another thing's "level" says nothing
        given = _amount(properties["epsilon"], number)
        return min(given, exactly(usual[level])) if isinstance(level, str) and level in usual else given
    if not isinstance(level, str) or level not in usual:
        raise ParameterError("zones", f"zone {number} needs a property 'epsilon', or 'level': {', '.join(usual)}")
    return exactly(usual[level])


def _amount(value: Any, number: int) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not 1e-6 <= value <= 1e4:
        raise ParameterError("zones", f"the epsilon of zone {number} must be a number from 0.000001 to 10000")
    return exactly(value)


def _pair(pair: Any, number: int) -> Zone:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], Box):
        raise ParameterError("zones", "must be pairs of a Box and an epsilon: (Box(lon=(1, 2), lat=(3, 4)), 0.1)")
    return Zone(f"zone {number}", _amount(pair[1], number), pair[0])


def _on_lattice(edges: NDArray[np.float64], domain: Domain, axes: tuple[int, int]) -> NDArray[np.float64]:
    middle, half = (np.array(each)[[*axes, *axes]] for each in (domain.middle, domain.unit))
    with np.errstate(over="ignore", under="ignore"):
        scaled = (edges - middle) / half
    if not (np.abs(scaled) <= FARTHEST).all():
        raise ParameterError("zones", "lie absurdly far from the bounds; are they in the units of the data?")
    return np.asarray(scaled * domain.limit)


def _box_on_lattice(box: Box, domain: Domain) -> NDArray[np.float64]:
    names, middle, unit = domain.names, domain.middle, domain.unit  # made whenever they are asked for: once
    columns = box.columns or names
    if len(columns) != len(box.ranges) or not set(columns) <= set(names):
        raise ParameterError("zones", f"a Box must have ranges for some of the columns {', '.join(names)}")
    corners = np.array([[-np.inf] * domain.dimension, [np.inf] * domain.dimension])
    for j, ends in zip(map(names.index, columns), box.ranges, strict=True):
        with np.errstate(over="ignore", under="ignore"):
            corners[:, j] = (np.array(ends) - middle[j]) / unit[j] * domain.limit
    return corners


@dataclass(frozen=True, eq=False)
class Thinning:
    """Zones on a domain with the rates that an epsilon gives them: what a fit needs."""

    zones: Zones
    coins: Coins
    domain: Domain

    @property
    def regions(self) -> Regions:
        return self.coins.regions

    @property
    def rates(self) -> NDArray[np.float64]:
        """The share of rows kept, by the number of their zone."""
        return np.array([each / ALWAYS for each in self.coins.keeping])

    @property
    def fingerprint(self) -> str:
        """A hash of which rows are in which zone: in other columns other rows are, and bounds move those outside."""
        old = ("columns", "ball")  # what is None or False there has always been told
        domain = {name: each for name, each in asdict(self.domain).items() if each or name in old}
        where = [[area.axes for area in self.regions.areas], domain]
        return hashlib.sha256(json.dumps([self.zones.fingerprint, where]).encode()).hexdigest()

    def table(self, table: Table, source: Source) -> Table:
        """The table with its zones thinned, by one key drawn now; no row is read yet. People are thinned as a whole."""
        return table.zoned(self.coins, self.domain, source)

    def rows(self, table: Table, source: Source) -> ZonedTable:
        """The table with its rows thinned one by one."""
        return ZonedTable(table, self.coins, new_key(source), self.domain)

    def promises(self, whole: Promise, *, missing: str = MIDDLE) -> ZonePromises:
        """What rows in each zone are promised, where all others have `whole`: for the ledger."""
        rates = dict(zip((area.epsilon for area in self.regions.areas), self.coins.keeping[1:], strict=True))
        found = [
            (each.name, whole.with_cost(Cost(each.epsilon, Fraction(rates[each.epsilon], ALWAYS) * whole.delta)))
            for each in self.zones.zones
        ]
        left = "" if missing == MIDDLE or whole.unit is None else f" {missing}"  # whoever has no row left is in none
        return ZonePromises(self.fingerprint + left, tuple(found))

    def known(self, person: Person) -> ZoneRates:
        """What is known of how rows were kept: each by where it is, or people with all their rows."""
        return ZoneRates(self.regions, self.rates, None if person.column is None else person.rows)

    def notes(self, delta: Fraction = Fraction(0), *, counted_up: bool) -> dict[str, Any]:
        """For the certificate: every zone's epsilon and rate, never how many rows it has."""
        rates = (float_at_least(Fraction(each, ALWAYS)) for each in self.coins.keeping[1:])  # never below the coins'
        kinds = {area.epsilon: rate for area, rate in zip(self.regions.areas, rates, strict=True)}
        zones: list[dict[str, Any]] = []
        for each in self.zones.zones:
            rate = kinds[each.epsilon]
            zone = {"name": each.name, "epsilon": float_at_least(each.epsilon), "rate": rate}
            zones.append(zone | ({"delta": float_at_least(exactly(rate) * delta)} if delta else {}))
        return {"zones": zones, "zones_note": zones_note(counted_up=counted_up)}


def read_zones(
    zones: Any,
    *,
    epsilon: Fraction,
    domain: Domain,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    person: Person | None = None,
    everywhere: bool = False,
) -> Thinning | None:
    """What a user passed as `zones`, checked against the epsilon that all other rows get; None for no zones.

    Every epsilon of a zone is one that some row within the bounds gets, and so is that of all others, unless zones may
    be `everywhere`: at a node, which prints nothing.
    """
    if zones is None:
        return None
    if person is not None and person.quantile is not None:
        raise ParameterError("zones", "with zones, rows_per_person must be a number: its choice would count everybody")
    if neighbours is not Neighbours.ADD_REMOVE:
        raise ParameterError("zones", "are proven for add-remove only; use neighbours='add-remove'")
    known = Zones.read(zones)
    regions = known.on(domain)
    rates = [ALWAYS]
    for area in regions.areas:
        if float_at_least(area.epsilon) >= float_at_least(epsilon):  # as they are printed
            raise ParameterError("zones", "a zone's epsilon must be below that of all other rows: zones are stricter")
        rates.append(keeping(area.epsilon, epsilon))
        if rates[-1] == 0:
            raise ParameterError("zones", "a zone's epsilon is so small next to epsilon that no row could be kept")
    _check_told(known, regions, everywhere=everywhere)
    return Thinning(known, Coins(regions, tuple(rates)), domain)


def _check_told(zones: Zones, regions: Regions, *, everywhere: bool) -> None:
    """Refuse zones whose promise no row would get, and zones that leave no row with the promise of all others."""
    rows = zones.witnesses(regions)
    for zone in zones.zones:
        if next(rows) is None:
            raise ParameterError(
                "zones",
                f"no row can be found that gets the epsilon of {zone.name!r}: it lies outside the bounds (are longitude"
                " and latitude exchanged?), or stricter zones cover it; leave it out, or draw it anew",
            )
    if not everywhere and next(rows) is None:
        raise ParameterError(
            "zones", "cover all of the bounds, so no row gets the epsilon of all others; choose a smaller epsilon"
        )

"""Extremes of zones: rounding, the ends of the world, places that no row can be in, absurd documents."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from covey import Box
from covey.errors import FormatError, ParameterError
from covey.fit.zones import ALWAYS, read_zones
from covey.public import resolve_bounds
from covey.published.levels.words import weaker

EARTH = Box(lon=(-180, 180), lat=(-90, 90))


def polygon(*corners: tuple[float, float], epsilon: float = 0.1) -> dict:
    geometry = {"type": "Polygon", "coordinates": [[list(each) for each in corners]]}
    return {"type": "Feature", "properties": {"epsilon": epsilon}, "geometry": geometry}


def rectangle(west: float, south: float, east: float, north: float, **more: float) -> dict:
    return polygon((west, south), (east, south), (east, north), (west, north), **more)


def collection(*features: dict) -> dict:
    return {"type": "FeatureCollection", "features": list(features)}


def earth(zones: object) -> object:
    return read_zones(zones, epsilon=Fraction(2), domain=resolve_bounds(EARTH, names=("lon", "lat"), width=2))


def test_what_a_zone_is_promised_is_never_rounded_below_what_its_rate_gives():
    """ln(1 + q(e^ε - 1)) for the q of the coins, not for the nearest float: the certificate may not say less."""
    with localcontext() as context:
        context.prec = 60
        for number in range(1, 120):
            thinning = earth(collection(rectangle(0, 0, 1, 1, epsilon=number / 61)))
            exact = Decimal(thinning.coins.keeping[1]) / Decimal(ALWAYS)
            [zone] = thinning.notes(Fraction(1, 10**7), counted_up=True)["zones"]
            assert Decimal(str(zone["rate"])) >= exact
            assert Decimal(str(zone["delta"])) >= exact / 10**7
            for epsilon in (0.1, 0.5, 2.0):
                true = (1 + exact * (Decimal(str(epsilon)).exp() - 1)).ln()
                assert Decimal(str(weaker(zone["rate"], epsilon))) >= true


def test_of_an_epsilon_and_a_level_the_stricter_one_counts():
    for epsilon, level, kept in ((0.2, "most private", 0.1), (0.05, "most private", 0.05), (0.2, "storey 3", 0.2)):
        zone = rectangle(0, 0, 1, 1, epsilon=epsilon)
        zone["properties"]["level"] = level
        [area] = earth(collection(zone)).regions.areas
        assert area.epsilon == Fraction(str(kept))


@pytest.mark.parametrize(
    "zones",
    [
        collection(rectangle(170, 0, 190, 10)),  # across the 180th meridian: its eastern half would be no zone at all
        collection(rectangle(-190, 0, -170, 10)),
        collection(rectangle(0, 0, 1, 1), rectangle(350, 0, 351, 1)),  # degrees from 0 to 360
        collection(rectangle(0, 85, 10, 95)),
        collection(rectangle(-170, 0, 170, 10)),  # across it, as many a program draws it: all but what was meant
    ],
)
def test_a_zone_beyond_the_ends_of_the_world_is_refused(zones):
    with pytest.raises(ParameterError, match="180"):
        earth(zones)


def test_zones_that_no_row_can_be_in_are_refused():
    """Longitude and latitude exchanged, or other units: a certificate would promise what nobody gets."""
    city = resolve_bounds(Box(lon=(-74.1, -73.9), lat=(40.7, 40.9)), names=("lon", "lat"), width=2)
    exchanged = collection(rectangle(40.75, -74.05, 40.76, -74.04))
    with pytest.raises(ParameterError, match="outside the bounds"):
        read_zones(exchanged, epsilon=Fraction(1), domain=city)
    with pytest.raises(ParameterError, match="outside the bounds"):
        read_zones([(Box(lon=(10, 11)), 0.1)], epsilon=Fraction(1), domain=city)
    some = collection(rectangle(-74.05, 40.75, -74.04, 40.76), rectangle(-75, 41, -74.5, 42))
    with pytest.raises(ParameterError, match=r"'zone 2'.*outside the bounds"):
        read_zones(some, epsilon=Fraction(1), domain=city)


@pytest.mark.parametrize(
    "corner",
    [10**400, -(10**400), float("inf"), float("nan"), None, {}, [[0]], "x"],
    ids=["huge", "hugely negative", "inf", "nan", "none", "object", "list", "text"],
)
def test_an_absurd_corner_is_refused_in_words(corner):
    with pytest.raises((FormatError, ParameterError)):
        earth(collection(polygon((0, 0), (1, 0), (corner, 1))))


def test_a_document_nested_without_end_is_refused_in_words():
    nested: dict = rectangle(0, 0, 1, 1)
    for _ in range(5000):
        nested = {"type": "Feature", "geometry": nested, "properties": {"epsilon": 0.1}}
    with pytest.raises(FormatError):
        earth(collection(nested))

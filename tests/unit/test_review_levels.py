"""Attacks on the slider's levels and on zones: what broke once must not break again."""

from __future__ import annotations

import json
import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from covey import Box, Ledger
from covey.errors import FormatError, ParameterError
from covey.fit import slider
from covey.fit.zones import ALWAYS, read_zones
from covey.noise.chain import ChainedLaplace, stay
from covey.public import Person, resolve_bounds
from covey.published.levels.files import from_json, to_json
from covey.published.levels.words import weaker
from covey.studio.view import promise

UNIT = Box((0, 1), (0, 1))
EARTH = Box(lon=(-180, 180), lat=(-90, 90))
ROWS = np.random.default_rng(3).uniform(0, 1, (500, 2))


def polygon(*corners: tuple[float, float], epsilon: float = 0.1) -> dict:
    geometry = {"type": "Polygon", "coordinates": [[list(each) for each in corners]]}
    return {"type": "Feature", "properties": {"epsilon": epsilon}, "geometry": geometry}


def rectangle(west: float, south: float, east: float, north: float, **more: float) -> dict:
    return polygon((west, south), (east, south), (east, north), (west, north), **more)


def collection(*features: dict) -> dict:
    return {"type": "FeatureCollection", "features": list(features)}


def earth(zones: object) -> object:
    return read_zones(zones, epsilon=Fraction(2), domain=resolve_bounds(EARTH, names=("lon", "lat"), width=2))


# --- the chain --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wide", "narrow"), [(0.1, 2), (1e-6, 2e-6), (3, 50), (0.999, 1), (1e-6, 1e4), (0.1, np.nextafter(0.1, 1))]
)
def test_the_chance_to_stay_has_the_digits_of_an_independent_formula(wide, narrow):
    """(sinh(s/2)/sinh(s'/2))², in decimal arithmetic: another formula than the one that is computed with."""
    small, large = (Fraction(str(float(each))) for each in (wide, narrow))
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 120, -(10**6), 10**6

        def sinh(s: Fraction) -> Decimal:
            half = Decimal(s.numerator) / Decimal(2 * s.denominator)
            return (half.exp() - (-half).exp()) / 2

        w = (sinh(small) / sinh(large)) ** 2
        assert stay(small, large).leading(100) == int(w * 2**100)


def test_equal_levels_are_refused():
    with pytest.raises(ParameterError, match="ascend"):
        ChainedLaplace((Fraction(1), Fraction(1)))
    with pytest.raises(ParameterError, match="ascend"):
        slider.check_levels([("a", 1), ("b", 1.0)])


# --- levels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [[("a", 1.0), ("b", 2000.0)], [("a", 1e4)], [("a", 1e-6), ("b", 1e4)]])
@pytest.mark.parametrize("zones", [None, [(Box((0, 0.5), (0, 0.5)), 1e-6)]])
def test_every_epsilon_that_may_be_paid_for_gives_levels_that_can_be_read(levels, zones):
    """Noise of so large an epsilon is nothing at all, and its variance no number beyond what floats hold."""
    if zones is not None and levels[-1][1] > 40:
        zones = [(Box((0, 0.5), (0, 0.5)), levels[-1][1] - 1)]
    found = slider.fit_levels(ROWS, bounds=UNIT, levels=levels, zones=zones, per_axis=4)
    for level in range(len(levels)):
        assert len(found.release(level, 2).centres) == 2
        assert math.isfinite(found.expected(level, 2)["cost_error"])
        assert found.meaning(level)


def test_too_many_cells_and_zones_are_refused_before_anything_is_paid():
    book = Ledger.memory(dataset="d", epsilon=10)
    zones = [(Box((0, 0.5), (0, 0.01 * i)), 0.01 * i) for i in range(1, 21)]
    with pytest.raises(ParameterError, match="at most 2"):
        slider.fit_levels(ROWS, bounds=UNIT, per_axis=1024, zones=zones, ledger=book, dataset="d")
    assert book.datasets()["d"].spent.epsilon == 0


def test_a_file_cannot_keep_its_reader_busy_with_an_astronomic_number():
    document = json.loads(to_json(slider.fit_levels(ROWS, bounds=UNIT, per_axis=2)))
    for absurd in ("1e3000000", "1/1e9", "1" + "0" * 5000, "0.005e-4000000", "nan", "inf", ""):
        took = []
        for _ in range(3):  # the quickest: other threads of the process count too
            started = time.process_time()
            with pytest.raises(FormatError):
                from_json(json.dumps({**document, "rows_epsilon": absurd}).encode())
            took.append(time.process_time() - started)
        assert min(took) < 0.5


@pytest.mark.parametrize("change", [{"rows_noisy": 10**400}, {"rates": [1e-300] * 4, "cells": [0, 1, 2, 3]}])
def test_a_file_with_absurd_numbers_is_refused(change):
    document = json.loads(to_json(slider.fit_levels(ROWS, bounds=UNIT, per_axis=2)))
    with pytest.raises(FormatError):
        from_json(json.dumps({**document, **change}).encode())


def test_a_file_cannot_speak_for_the_choice():
    document = json.loads(to_json(slider.fit_levels(ROWS, bounds=UNIT, per_axis=2)))
    document["certificate"]["parameters"] |= {"choice": "all is well", "chosen": "in advance", "level": "x", "k": 9}
    found = from_json(json.dumps(document).encode()).release(1, 2, chosen="with sight of raw data").certificate
    assert "not covered" in found.statement
    assert (found.parameters["level"], found.parameters["k"]) == ("very private", 2)


def test_all_three_ways_of_choosing_stay_honest_after_a_file(tmp_path):
    zones = [(Box((0, 0.5), (0, 0.5)), 0.3)]
    found = slider.fit_levels(ROWS, bounds=UNIT, zones=zones, random_state=1, per_axis=4)
    found.save(tmp_path / "levels.json")
    back = slider.LevelSet.load(tmp_path / "levels.json")
    for level, (_, epsilon) in enumerate(slider.USUAL_LEVELS):
        for chosen in slider.CHOICES:
            one = back.release(level, 2, chosen=chosen).certificate
            assert one == found.release(level, 2, chosen=chosen).certificate
            assert one.seeded
            assert one.epsilon == (epsilon if chosen == "in advance" else 2.0)
            assert one.parameters["chosen"] == chosen
            assert ("not covered" in one.parameters["choice"]) == (chosen == "with sight of raw data")
            [zone] = one.parameters["zones"]
            assert zone["epsilon"] <= 0.3


def test_the_factor_that_is_told_is_never_rounded_down():
    """A factor "of at most" 1.28 for e^0.25 = 1.284 would promise too much; decimal's exp ignores the rounding."""
    levels = [(f"level {i}", i / 20) for i in range(1, 20)]
    found = slider.fit_levels(ROWS, bounds=UNIT, levels=levels, per_axis=1)
    for level, (_, epsilon) in enumerate(levels):
        for words in (found.meaning(level), promise(epsilon, str(Person()))):
            told = float(words.rpartition("at most ")[2].rstrip("."))
            assert math.exp(epsilon) <= told <= 1.01 * math.exp(epsilon)


def test_a_merge_does_not_hide_that_a_choice_is_not_covered():
    one, two = (slider.fit_levels(ROWS, bounds=UNIT, per_axis=4, dataset=name) for name in ("a", "b"))
    seen = one.coreset(2, chosen="with sight of raw data")
    for disjoint in (True, False):
        assert "not covered" in seen.merge(two.coreset(2), disjoint=disjoint).certificate.statement
    assert "not covered" not in one.coreset(2).merge(two.coreset(2), disjoint=True).certificate.statement
    assert "not covered" in seen.reduce(3).kmeans(2).certificate.statement


# --- zones ------------------------------------------------------------------------------------------------------------


def test_what_a_zone_is_promised_is_never_rounded_below_what_its_rate_gives():
    """ln(1 + q(e^ε - 1)) for the q of the coins, not for the nearest float: the certificate may not say less."""
    with localcontext() as context:
        context.prec = 60
        for number in range(1, 120):
            thinning = earth(collection(rectangle(0, 0, 1, 1, epsilon=number / 61)))
            exact = Decimal(thinning.coins.keeping[1]) / Decimal(ALWAYS)
            [zone] = thinning.notes(Fraction(1, 10**7))["zones"]
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

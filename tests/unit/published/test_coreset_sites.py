"""Centres that may not be everywhere: regions, lists and places that stand, on coresets of either sign of weight."""

import json
import pickle
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import Certificate, Coreset, FormatError, ParameterError, Release
from covey.geo.geojson import Region
from covey.published.errors import BoxNoise
from covey.published.sentences import constraint_words
from covey.published.show import at_an_end

OBJECTIVES = ("k-means", "k-median")


def certificate(lower=(-1.0, -1.0), upper=(1.0, 1.0)):
    return Certificate(
        algorithm="made-up",
        parameters={},
        epsilon=1.0,
        delta=0.0,
        neighbours="add-remove",
        person="one row",
        domain={"type": "box", "lower": list(lower), "upper": list(upper)},
        seeded=False,
        covey="0.1.0",
    )


def points(seed, many=50, *, signed=True, columns=("lon", "lat")):
    rng = np.random.default_rng(seed)
    weights = rng.laplace(2, 2, many) if signed else rng.exponential(2, many)
    d = len(columns)
    return Coreset(
        rng.uniform(-1, 1, (many, d)), weights, columns=columns, certificate=certificate([-1.0] * d, [1.0] * d)
    )


def boxed(seed=0, side=24):
    """A histogram of three clusters, with noise whose law is known."""
    rng = np.random.default_rng(seed)
    middles = np.array([[-0.5, -0.5], [0.0, 0.0], [0.5, 0.5]])
    rows = np.clip(middles[rng.integers(3, size=30_000)] + rng.normal(0, 0.1, (30_000, 2)), -1, 0.999)
    counts = np.histogram2d(*rows.T, bins=side, range=[(-1, 1)] * 2)[0].ravel() + np.round(rng.laplace(0, 1, side**2))
    axis = (2 * np.arange(side) + 1) / side - 1
    middle = np.stack([each.ravel() for each in np.meshgrid(axis, axis, indexing="ij")], axis=1)
    return Coreset(
        middle,
        counts,
        cells=np.full(middle.shape, 2 / side),
        noise=BoxNoise(2.0, 7.0, 1.0),
        columns=["lon", "lat"],
        certificate=certificate(),
    )


def square(west, south, east, north):
    return {"type": "Polygon", "coordinates": [[[west, south], [east, south], [east, north], [west, north]]]}


PARK, CITY = square(-0.25, -0.25, 0.25, 0.25), square(-0.6, -0.6, 0.9, 0.9)


def find(coreset, objective, k, **limits):
    return (coreset.kmeans if objective == "k-means" else coreset.kmedian)(k, random_state=0, **limits)


def told(release):
    return release.certificate.parameters["constraints"]


# --- against trying everything ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_a_list_beside_what_stands(objective, seed):
    coreset, rng = points(seed, signed=seed % 2 == 0), np.random.default_rng(seed + 100)
    listed, fixed, new = rng.uniform(-1, 1, (8, 2)), rng.uniform(-1, 1, (seed % 3, 2)), 1 + seed % 3
    limits = {"candidates": listed, "fixed": fixed if len(fixed) else None, "forbidden": PARK if seed > 3 else None}
    found = find(coreset, objective, new + len(fixed), **limits)
    usable = [i for i in range(8) if seed <= 3 or not Region.read(PARK).contains(listed[[i]])[0]]
    prices = {
        each: coreset.cost(np.vstack([fixed, listed[list(each)]]), objective=objective)
        for each in combinations(usable, new)
    }
    assert coreset.cost(found.centres, objective=objective) == pytest.approx(min(prices.values()), abs=1e-9)
    assert prices[tuple(told(found)["numbers"])] == pytest.approx(min(prices.values()), abs=1e-9)
    assert np.array_equal(found.centres[len(fixed) :], listed[told(found)["numbers"]])


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_two_depots_and_where_the_third_goes(objective):
    """No place of a fine lattice outside the park is better than the one found."""
    coreset, depots = boxed(), np.array([[-0.5, -0.5], [0.5, 0.5]])
    found = find(coreset, objective, 3, fixed=depots, forbidden=PARK)
    assert np.array_equal(found.centres[:2], depots)
    axis = np.linspace(-1, 1, 41)
    lattice = np.stack([each.ravel() for each in np.meshgrid(axis, axis)], axis=1)
    lattice = lattice[~Region.read(PARK).contains(lattice)]
    sets = np.concatenate([np.broadcast_to(depots, (len(lattice), 2, 2)), lattice[:, None]], axis=1)
    assert coreset.cost(found.centres, objective=objective) <= 1.002 * coreset.cost(sets, objective=objective).min()
    assert np.abs(found.centres[2]).max() == pytest.approx(0.25, abs=2e-3)  # just outside the park, where people are


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_without_a_limit_that_matters_it_is_as_good_as_ever(objective):
    coreset, far = boxed(), square(0.9, -0.95, 0.95, -0.9)
    free, found = find(coreset, objective, 3), find(coreset, objective, 3, forbidden=far)
    prices = [coreset.cost(each.centres, objective=objective) for each in (free, found)]
    assert prices[1] <= 1.01 * prices[0]


# --- what always holds ------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(0, 2),
    st.sampled_from(OBJECTIVES),
    st.booleans(),
    st.booleans(),
)
def test_centres_are_where_they_may_be_and_what_stands_is_kept(seed, new, fixed, objective, city, signed):
    coreset, rng = points(seed, 30, signed=signed), np.random.default_rng(seed)
    depots = rng.uniform(-1, 1, (fixed, 2)) / 3  # some stand in the park
    limits = {"forbidden": PARK, "fixed": depots if fixed else None, "allowed": CITY if city else None, "starts": 3}
    found = find(coreset, objective, new + fixed, **limits)
    centres = np.array(found.centres)
    assert np.array_equal(centres[:fixed], depots)
    assert not Region.read(PARK).contains(centres[fixed:]).any()
    assert not city or Region.read(CITY).contains(centres[fixed:]).all()
    assert (np.abs(centres) <= 1).all()
    assert sum(found.sizes) == pytest.approx(coreset.total)
    if fixed and not signed:
        assert coreset.cost(centres, objective=objective) <= coreset.cost(depots, objective=objective) + 1e-9
    again = find(coreset, objective, new + fixed, **limits)
    assert again.to_json() == found.to_json()
    assert Release.from_json(found.to_json()) == pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_certificate_says_what_limited_it_and_what_that_costs(objective):
    coreset, depots = boxed(), [[-0.5, -0.5], [0.0, 0.1]]
    found = find(coreset, objective, 3, fixed=depots, forbidden=PARK, allowed=CITY)
    notes = told(found)
    assert (notes["fixed"], notes["allowed_polygons"], notes["forbidden_polygons"]) == (2, 1, 1)
    assert "numbers" not in notes
    for name, centres in (("found", found.centres), ("fixed alone", depots)):
        assert notes["costs"][name] == list(coreset.cost(centres, objective=objective, interval=True)[:3])
    assert notes["costs"]["anywhere"][0] < notes["costs"]["found"][0] < notes["costs"]["fixed alone"][0]
    difference = coreset.cost_difference(depots, found.centres, objective=objective)
    assert notes["more_than_found"]["fixed alone"] == list(difference[:3])
    assert notes["more_than_found"]["fixed alone"][1] > 0
    assert found.certificate.parameters["k"] == 3
    assert found.certificate.epsilon == coreset.certificate.epsilon
    assert "constraints" not in find(coreset, objective, 3).certificate.parameters


def test_without_known_noise_costs_have_no_ends():
    notes = told(points(1).kmeans(2, fixed=[[0.0, 0.0]], random_state=0))
    assert notes["costs"]["found"][1:] == [None, None]
    assert json.dumps(notes)


def test_a_place_that_stands_is_no_noise():
    coreset, corner = boxed(), [[0.95, -0.95]]
    found = coreset.kmeans(4, fixed=corner, random_state=0)
    assert coreset.boxes is not None
    assert not found.doubtful[0]
    assert find(coreset, "k-means", 4).doubtful is not None


def test_places_may_lie_outside_the_bounds_if_they_are_given():
    coreset, outside = boxed(), [[1.5, 0.0]]
    assert coreset.kmedian(2, fixed=outside, random_state=0).centres[0] == outside[0]
    assert told(coreset.kmedian(1, candidates=[[1.5, 0.0], [-1.5, 0.0]], random_state=0))["candidates"] == 2


def test_a_place_beyond_the_bounds_says_nothing_of_where_rows_are():
    only = boxed().kmedian(1, candidates=[[1.5, 0.0]], random_state=0)
    assert at_an_end(only) == []
    assert constraint_words(only)[0] == "Limits: centres were chosen from 1 place (number 0, counted from 0)."
    assert at_an_end(boxed().kmedian(1, candidates=[[1.0, 0.0]], random_state=0))  # within them, as ever


def test_other_columns_are_free():
    coreset = points(3, 80, columns=("lon", "age", "lat"))
    found = np.array(coreset.kmeans(3, forbidden=PARK, random_state=0).centres)
    assert found.shape == (3, 3)
    assert not Region.read(PARK).contains(found[:, [0, 2]]).any()
    assert len(coreset.kmedian(2, allowed=PARK, lon="age", lat="lat", random_state=0).centres) == 2


def test_many_more_centres_than_points():
    coreset = points(1, 3)
    assert len(coreset.kmeans(9, forbidden=PARK, random_state=0).centres) == 9
    assert len(coreset.kmedian(9, fixed=[[0.0, 0.0]], random_state=0).centres) == 9


def test_all_negative_weights_still_have_an_answer():
    coreset = Coreset([[0.5, 0.5], [0.1, -0.2]], [-3.0, -1.0], columns=["lon", "lat"], certificate=certificate())
    for objective in OBJECTIVES:
        assert len(find(coreset, objective, 2, forbidden=PARK).centres) == 2


def test_a_large_coreset_answers_within_seconds():
    rng = np.random.default_rng(0)
    large = points(0, 20_000)
    before = time.process_time()
    large.kmedian(20, forbidden=PARK, fixed=rng.uniform(-1, 1, (3, 2)), random_state=0)
    large.kmeans(20, candidates=rng.uniform(-1, 1, (5000, 2)), random_state=0)
    assert time.process_time() - before < 60  # about 3 s


# --- what is refused, before any work ---------------------------------------------------------------------------------

REFUSED = {
    "k": [
        ({"k": 2, "fixed": [[0, 0], [0.1, 0]]}, "counts the 2 fixed places: none is left"),
        ({"k": 1, "fixed": [[0, 0], [0.1, 0]]}, "none is left"),
        ({"k": 0, "forbidden": PARK}, "whole number"),
    ],
    "fixed": [
        ({"fixed": [[0, 0, 0]]}, "these have 3"),
        ({"fixed": [[np.nan, 0]]}, "finite"),
        ({"fixed": []}, "coordinates"),
        ({"fixed": [[[0, 0]]]}, "one list"),
    ],
    "candidates": [
        ({"candidates": [[0.5, 0.5]]}, "are 1, but 3 are to be chosen"),
        ({"candidates": [["a", "b"]]}, "numbers"),
        ({"candidates": np.zeros((10_001, 2))}, "at most 10,000"),
        ({"candidates": [[0, 0], [0.1, 0], [0.5, 0.5]], "forbidden": PARK}, "1 of 3 lie where a centre may be"),
        ({"candidates": [[0.9, 0], [0.5, 0.9], [0.5, 0.5]], "allowed": PARK}, "0 of 3"),
    ],
    "forbidden": [
        ({"forbidden": square(-2, -2, 2, 2)}, "covers all of the bounds"),
        ({"allowed": PARK, "forbidden": CITY}, "covers all of what is allowed"),
        ({"allowed": PARK, "forbidden": PARK}, "covers all of what is allowed"),
    ],
    "allowed": [({"allowed": square(40, -75, 41, -74)}, "no part of it lies in the bounds")],
    "starts": [({"forbidden": PARK, "starts": 0}, "whole number")],
    "lon": [({"forbidden": PARK, "lon": "east"}, "longitude")],
}


@pytest.mark.parametrize(
    ("name", "asked", "words"), [(name, asked, words) for name, rows in REFUSED.items() for asked, words in rows]
)
def test_what_cannot_be_is_refused_by_name_before_any_search(name, asked, words, monkeypatch):
    def never(*_, **__):
        raise AssertionError("searched")

    for step in ("clustered", "choose", "settle"):
        monkeypatch.setattr(f"covey.published.coreset.sites.{step}", never)
    for objective in OBJECTIVES:
        cluster = points(1).kmeans if objective == "k-means" else points(1).kmedian
        with pytest.raises(ParameterError, match=rf"{name}: .*{words}"):
            cluster(**{"k": 3, **asked})


def test_regions_that_are_none_and_unknown_limits():
    with pytest.raises(FormatError, match="forbidden"):
        points(1).kmeans(2, forbidden={"type": "Point"})
    with pytest.raises(FormatError, match="allowed: cannot read"):
        points(1).kmeans(2, allowed="none.geojson")
    with pytest.raises(TypeError, match="'forbiden' is no keyword here"):
        points(1).kmeans(2, forbiden=PARK)
    with pytest.raises(ParameterError, match="lon"):
        Coreset([[0.0]], [1.0], columns=["x"], certificate=certificate([-1.0], [1.0])).kmeans(1, forbidden=PARK)


# --- comparisons and metres -------------------------------------------------------------------------------------------


def test_what_stands_is_admissible_wherever_it_is():
    coreset, depot = boxed(), [0.1, 0.1]
    sets = {"stands": [depot, [0.5, 0.5]], "moved": [[0.1, 0.11], [0.5, 0.5]]}
    rows = {row.name: row for row in coreset.compare(sets, forbidden=PARK, fixed=[depot])}
    assert rows["stands"].admissible
    assert rows["moved"].reason == "site 0 inside the forbidden region"
    assert not any(row.admissible for row in coreset.compare(sets, forbidden=PARK))


def test_the_mean_way_is_in_metres():
    north = certificate([-74.1, 59.9], [-73.9, 60.1])
    coreset = Coreset([[-74.05, 60.0], [-74.0, 60.05]], [3.0, 1.0], columns=["lon", "lat"], certificate=north)
    way = coreset.mean_way([[-74.0, 60.0]])
    assert way.cost == pytest.approx((3 * 0.05 * 111_320 / 2 + 0.05 * 111_320) / 4, rel=1e-3)  # at 60 degrees, half
    assert np.isnan(way.low)
    assert way.why
    assert coreset.mean_way([[-74.0, 60.0]], lon="lat", lat="lon").cost != way.cost
    with pytest.raises(ParameterError, match="one set"):
        coreset.mean_way([[[-74.0, 60.0]]])


def test_the_mean_way_has_an_interval_where_noise_is_known():
    way = boxed().mean_way([[-0.5, -0.5], [0.0, 0.0], [0.5, 0.5]])
    assert way.why is None
    assert way.low < 0.1 * np.sqrt(np.pi / 2) * 111_320 < way.high  # the mean of a round normal cloud


@pytest.mark.parametrize("objective", ["k-median", "k-means"])
def test_minutes_are_metres_at_the_stated_speed_with_their_interval(objective):
    coreset, sites = boxed(), [[-0.5, -0.5], [0.0, 0.0], [0.5, 0.5]]
    metres, minutes = (coreset.mean_way(sites, objective=objective, speed=speed) for speed in (None, 30))
    assert np.array(metres[:3]) == pytest.approx(500 * np.array(minutes[:3]))  # 30 km/h are 500 metres a minute
    (row,) = coreset.compare([sites], objective=objective, speed=30)
    assert (row.way, row.way_low, row.way_high) == pytest.approx(metres[:3])
    assert (row.minutes, row.minutes_low, row.minutes_high) == pytest.approx(minutes[:3])
    (row,) = coreset.compare([sites], objective=objective)
    assert (row.minutes, row.minutes_low, row.minutes_high) == (None, None, None)


@pytest.mark.parametrize("speed", [0, -30, float("nan"), float("inf"), True, "30"])
def test_a_speed_is_a_positive_number(speed):
    with pytest.raises(ParameterError, match="speed: must be a positive number"):
        boxed().mean_way([[0.0, 0.0]], speed=speed)


def test_minutes_need_a_map():
    flat = points(1, columns=("x", "y"))
    for ask in (lambda **how: flat.mean_way([[0.0, 0.0]], **how), lambda **how: flat.compare([[[0.0, 0.0]]], **how)):
        with pytest.raises(ParameterError, match="speed: needs a map"):
            ask(speed=30)
        assert ask(speed=30, lon="x", lat="y") is not None


@pytest.mark.parametrize(("objective", "power"), [("k-median", 1), ("k-means", 2)])
@pytest.mark.parametrize("columns", [("x", "y"), ("lon",), ("age", "height", "lat")])
def test_what_is_no_map_is_told_in_the_units_of_the_data(columns, objective, power):
    coreset = points(1, columns=columns)
    norms = np.linalg.norm(coreset.points, axis=1)
    way = coreset.mean_way([[0.0] * len(columns)], objective=objective)
    assert way.cost == pytest.approx((coreset.weights @ norms**power / coreset.total) ** (1 / power))


def test_a_map_with_other_columns_is_told_in_metres_over_the_map():
    coreset = points(1, columns=("lon", "age", "lat"))
    metres = 111_320 * np.linalg.norm(coreset.points[:, [0, 2]], axis=1)
    way = coreset.mean_way([[0.0, 0.5, 0.0]])
    assert way.cost == pytest.approx(coreset.weights @ metres / coreset.total, rel=1e-3)


def test_metres_need_degrees_and_rows():
    utm = certificate([0.0, 0.0], [50_000.0, 50_000.0])
    wide = Coreset([[100.0, 200.0]], [3.0], columns=["lon", "lat"], certificate=utm)
    assert wide.mean_way([[100.0, 0.0]]).cost == pytest.approx(200.0)
    empty = Coreset([[0.1, 0.2]], [-3.0], columns=["lon", "lat"], certificate=certificate())
    assert empty.mean_way([[0.0, 0.0]]) is None

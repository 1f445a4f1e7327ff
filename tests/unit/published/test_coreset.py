"""A coreset that was released once answers for ever: costs, clusters, counts, samples, fewer points."""

import pickle
import time

import msgspec
import numpy as np
import pytest

from covey import Box, Certificate, Coreset, KMeans, ParameterError, Release
from covey.post.many import spread_costs
from covey.published.release import WeightedPoints

BOX = Box(x=(-2, 2), y=(0, 8))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    middles = np.array([[-1.0, 2.0], [1.0, 2.0], [0.0, 6.0]])
    return middles[rng.integers(0, 3, 40_000)] + rng.normal(0, [0.1, 0.4], (40_000, 2))


@pytest.fixture(scope="module")
def release(rows):
    model = KMeans(3, epsilon=2, bounds=BOX, algorithm="grid", algorithm_params={"keep_synopsis": True}, random_state=1)
    return model.fit(rows).release_


@pytest.fixture(scope="module")
def coreset(release):
    return Coreset.of(release)


def certificate(*, lower=(-1.0, -1.0), upper=(1.0, 1.0), **changes):
    fields = {
        "algorithm": "made-up",
        "parameters": {},
        "epsilon": 1.0,
        "delta": 0.0,
        "neighbours": "add-remove",
        "person": "one row",
        "domain": {"type": "box", "lower": list(lower), "upper": list(upper)},
        "seeded": False,
        "covey": "0.1.0",
    }
    return Certificate(**{**fields, **changes})


def made_up(points, weights, **options):
    return Coreset(points, weights, columns=["x", "y"], certificate=certificate(), **options)


# --- where it comes from ----------------------------------------------------------------------------------------------


def test_the_synopsis_survives_the_file(release, tmp_path):
    release.save(tmp_path / "release.json")
    again = Release.load(tmp_path / "release.json")
    assert again == release
    assert Coreset.of(again) == Coreset.of(release)


def test_points_are_the_middles_of_the_cells_in_the_order_of_the_counts(release):
    coreset = Coreset.of(release)
    m = release.synopsis.cells_per_axis
    assert len(coreset) == m * m
    assert coreset.points[0] == pytest.approx([-2 + 2 / m, 4 / m])
    assert coreset.points[1] == pytest.approx([-2 + 2 / m, 12 / m])  # the last column comes fastest
    assert coreset.cells[3] == pytest.approx([4 / m, 8 / m])
    assert coreset.total == sum(release.synopsis.counts)


@pytest.mark.parametrize("cells", [None, [[0.5, 0.5], [0.25, 0.125]]])
def test_the_coreset_of_a_release_is_taken_as_it_stands(cells):
    points, weights = [[0.5, 0.25], [-0.5, 0.75]], [12.5, -3.0]
    made = Release(
        objective="k-median",
        columns=["x", "y"],
        centres=[[0.0, 0.0]],
        sizes=None,
        certificate=certificate(),
        coreset=WeightedPoints(points, weights, cells),
    )
    coreset = Coreset.of(Release.from_json(made.to_json()))
    assert coreset.points.tolist() == points
    assert coreset.weights.tolist() == weights
    assert (None if coreset.cells is None else coreset.cells.tolist()) == cells
    assert coreset.objective == "k-median"


def test_a_release_without_a_coreset_says_how_to_get_one(rows):
    plain = KMeans(3, bounds=BOX, algorithm="grid").fit(rows[:100]).release_
    with pytest.raises(ParameterError, match=r"PrivateCoreset.*keep_synopsis"):
        Coreset.of(plain)


def test_neither_repr_nor_equality_shows_or_needs_rows(coreset):
    assert repr(coreset) == f"Coreset({len(coreset)} points in 2 columns, epsilon=2)"
    assert coreset == pickle.loads(pickle.dumps(coreset))
    assert coreset != "something else"
    assert coreset != coreset.reduce(10, random_state=1)


def test_nobody_changes_a_coreset_by_accident(coreset):
    with pytest.raises(ValueError, match="read-only"):
        coreset.weights[0] = 5


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"points": np.empty((0, 2)), "weights": []}, "points"),
        ({"points": [[0.0]]}, "points"),
        ({"points": [[0.0, np.nan]]}, "points"),
        ({"points": [["a", "b"]]}, "points"),
        ({"weights": [np.nan]}, "weights"),
        ({"weights": [1, 2]}, "weights"),
        ({"cells": [[1.0]]}, "cells"),
        ({"cells": [[-1.0, 1.0]]}, "cells"),
        ({"cells": [[1.0, 1.0]] * 2}, "cells"),
        ({"columns": ["x"]}, "columns"),
        ({"columns": ["x", "x"]}, "columns"),
        ({"objective": "k-center"}, "objective"),
    ],
)
def test_no_empty_or_damaged_coreset_is_made(change, named):
    good = {"points": [[0.0, 0.0]], "weights": [1.0], "columns": ["x", "y"], "certificate": certificate()}
    with pytest.raises(ParameterError, match=named):
        Coreset(**{**good, **change})


# --- costs ------------------------------------------------------------------------------------------------------------


def plain_cost(coreset, centres, power, scale):
    gaps = (coreset.points[:, None] - np.asarray(centres)) / scale
    return float(coreset.weights @ (np.sqrt((gaps**2).sum(2)).min(1) ** power))


@pytest.mark.parametrize(("objective", "power"), [("k-means", 2), ("k-median", 1)])
def test_cost_agrees_with_the_rows_and_with_a_plain_sum(coreset, rows, objective, power):
    centres, scale = np.array([[-1.0, 2.0], [0.5, 5.0]]), np.array([2.0, 4.0])
    found = coreset.cost(centres, objective=objective)
    assert isinstance(found, float)
    points = Coreset(coreset.points, coreset.weights, columns=coreset.columns, certificate=coreset.certificate)
    assert points.cost(centres, objective=objective) == pytest.approx(plain_cost(coreset, centres, power, scale))
    exact = (np.sqrt((((rows[:, None] - centres) / scale) ** 2).sum(2).min(1)) ** power).sum()
    assert found == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize(("s", "k"), [(1, 1), (7, 3), (3000, 2), (5, 900)])
def test_many_sets_cost_what_each_costs_alone(objective, s, k):
    rng = np.random.default_rng(s)
    small = made_up(rng.uniform(-1, 1, (300, 2)), rng.laplace(1, 3, 300))
    sets = rng.uniform(-2, 2, (s, k, 2))
    sets[0, 0] = small.points[5]
    many = small.cost(sets, objective=objective)
    assert many.shape == (s,)
    power = 2 if objective == "k-means" else 1
    for i in {0, s // 2, s - 1}:
        assert many[i] == pytest.approx(plain_cost(small, sets[i], power, 1.0), abs=1e-9)
        assert small.cost(sets[i], objective=objective) == pytest.approx(many[i], abs=1e-9)


def test_ten_thousand_questions_take_no_time():
    rng = np.random.default_rng(1)
    small = made_up(rng.uniform(-1, 1, (300, 2)), rng.laplace(1, 3, 300))
    before = time.process_time()
    small.cost(rng.uniform(-1, 1, (10_000, 5, 2)))
    assert time.process_time() - before < 10  # about 0.2 s; one question after the other takes longer


def test_a_ball_is_measured_by_its_radius():
    ball = certificate(domain={"type": "ball", "radius": 4.0, "center": [1.0, 0.0]})
    coreset = Coreset([[5.0, 0.0]], [2.0], columns=["x", "y"], certificate=ball)
    assert coreset.cost([[1.0, 0.0]], objective="k-median") == pytest.approx(2)
    assert coreset.cost([[3.0, 0.0]], objective="k-means") == pytest.approx(0.5)


def test_the_default_objective_is_the_one_it_was_made_for():
    coreset = made_up([[0.5, 0.0]], [4.0], objective="k-median")
    assert coreset.cost([[0.0, 0.0]]) == pytest.approx(2)


def test_a_cost_may_be_negative():
    assert made_up([[1.0, 0.0], [0.1, 0.0]], [-2.0, 3.0]).cost([[0.0, 0.0]]) == pytest.approx(-1.97)


@pytest.mark.parametrize(
    ("centres", "what"),
    [
        ([[1.0]], "2 coordinates .x, y.*these have 1"),
        ([[1.0, 2.0, 3.0]], "these have 3"),
        ([[np.nan, 0.0]], "finite"),
        ([[np.inf, 0.0]], "finite"),
        (np.empty((0, 2)), "at least one"),
        (np.empty((3, 0, 2)), "at least one"),
        ([1.0, 2.0], "coordinates"),
        (3.0, "coordinates"),
        ([[[[1.0, 2.0]]]], "coordinates"),
        ([[1.0, 2.0], [1.0]], "as many"),
        ([["a", "b"]], "numbers"),
        ([[10**400, 0]], "numbers"),
        ([[1e300, 2.0]], "units"),
        (None, "coordinates"),
    ],
)
def test_bad_centres_are_refused_with_what_would_work(coreset, centres, what):
    with pytest.raises(ParameterError, match=f"centres: .*{what}"):
        coreset.cost(centres)


@pytest.mark.parametrize("weights", [["a"], [10**400], None, [1.0, 2.0], [np.inf]])
def test_bad_weights_are_refused_by_name(weights):
    with pytest.raises(ParameterError, match="weights: must be one finite number for each point"):
        made_up([[0.5, 0.0]], weights)


def test_points_too_large_for_a_number_are_refused_by_name():
    with pytest.raises(ParameterError, match="points: must be a table of numbers"):
        made_up([[10**400, 0.0]], [1.0])


def test_other_bad_questions_are_refused_by_name(coreset):
    with pytest.raises(ParameterError, match="objective"):
        coreset.cost([[0.0, 0.0]], objective="k-center")
    for k in (0, -1, 2.5, True, "3", 10**6):
        with pytest.raises(ParameterError, match="k:"):
            coreset.kmeans(k)
        with pytest.raises(ParameterError, match="k:"):
            coreset.kmedian(k)
    with pytest.raises(ParameterError, match="starts:"):
        coreset.kmeans(2, starts=0)
    with pytest.raises(ParameterError, match="m:"):
        coreset.sample(-1)
    with pytest.raises(ParameterError, match="m:"):
        coreset.reduce(0)
    with pytest.raises(ParameterError, match="box"):
        coreset.count(Box(height=(0, 1)))


# --- clusters, counts, samples ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_it_can_be_clustered_again_for_any_k(coreset, release, objective):
    cluster = coreset.kmeans if objective == "k-means" else coreset.kmedian
    for k in (1, 2, 5):
        again = cluster(k, random_state=0)
        assert len(again.centres) == k
        assert again.objective == objective
        assert again.certificate.epsilon == release.certificate.epsilon
        assert again.certificate.parameters["clustered_again"] is True
        assert sum(again.sizes) == pytest.approx(sum(release.synopsis.counts))
    found = np.array(cluster(3, random_state=0).centres)
    for middle in ([-1.0, 2.0], [1.0, 2.0], [0.0, 6.0]):
        assert np.abs(found - middle).max(axis=1).min() < 0.2


def test_each_objective_is_better_at_its_own(coreset):
    means, medians = (np.array(found(4, random_state=2).centres) for found in (coreset.kmeans, coreset.kmedian))
    assert coreset.cost(means, objective="k-means") <= coreset.cost(medians, objective="k-means")
    assert coreset.cost(medians, objective="k-median") <= coreset.cost(means, objective="k-median")


def test_counts_of_boxes(coreset, release, rows):
    assert coreset.count(BOX) == pytest.approx(sum(release.synopsis.counts))
    assert coreset.count(Box(y=(0, 4))) == pytest.approx((rows[:, 1] < 4).sum(), rel=0.05)
    assert coreset.count(Box(x=(-2, 0.3), y=(1.1, 4))) == pytest.approx(
        ((rows[:, 0] < 0.3) & (rows[:, 1] > 1.1) & (rows[:, 1] < 4)).sum(), rel=0.1
    )


def test_points_without_cells_count_where_they_are():
    coreset = made_up([[0.0, 0.0], [0.5, 0.5], [1.0, 0.0]], [1.0, 20.0, -300.0])
    assert coreset.count(Box(x=(-0.1, 0.1))) == 1
    assert coreset.count(Box(x=(0.5, 1.0), y=(0.0, 0.5))) == -280  # borders count
    half = made_up([[0.0, 0.0], [0.5, 0.5]], [1.0, 20.0], cells=[[0.0, 0.0], [0.5, 1.0]])
    assert half.count(Box(x=(-0.1, 0.5))) == 11


def test_samples_follow_the_weights(coreset):
    made = coreset.sample(5_000, random_state=3)
    assert made.shape == (5_000, 2)
    assert (np.abs(made - [0, 4]) <= [2, 4]).all()
    assert (made[:, 1] > 4).mean() == pytest.approx(1 / 3, abs=0.08)
    assert np.array_equal(made, coreset.sample(5_000, random_state=3))
    points = made_up([[0.0, 0.0], [0.5, 0.5]], [1.0, -5.0]).sample(10, random_state=0)
    assert (points == 0).all()  # no cells: the point itself; what is negative is never drawn
    assert made_up([[0.0, 0.0]], [-5.0]).sample(3).shape == (3, 2)
    assert coreset.sample(0).shape == (0, 2)


# --- fewer points -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
def test_fewer_points_give_nearly_the_same_costs(coreset, objective):
    rng = np.random.default_rng(0)
    sets = rng.uniform([-2, 0], [2, 8], (200, 4, 2))
    whole = coreset.cost(sets, objective=objective)
    for m, error in ((300, 0.06), (1000, 0.03)):
        small = coreset.reduce(m, random_state=1)
        assert len(small) <= m
        assert np.abs(small.cost(sets, objective=objective) / whole - 1).mean() < error


def test_weights_and_signs_are_kept(coreset):
    small = coreset.reduce(200, random_state=1)
    for sign in (1, -1):
        assert small.weights[sign * small.weights > 0].sum() == pytest.approx(
            coreset.weights[sign * coreset.weights > 0].sum()
        )
    known = {tuple(point) for point in coreset.points.tolist()}
    assert {tuple(point) for point in small.points.tolist()} <= known
    assert small.certificate.parameters["reduced_to"] == len(small)
    assert small.certificate.epsilon == coreset.certificate.epsilon
    assert small.origins == coreset.origins


def test_enough_room_returns_the_coreset_itself(coreset):
    assert coreset.reduce(len(coreset)) is coreset


def test_a_negative_weight_cannot_be_reduced_away():
    with pytest.raises(ParameterError, match="each sign"):
        made_up([[0.0, 0.0], [0.5, 0.5], [0.2, 0.1]], [1.0, -2.0, 1.0]).reduce(1)


def test_geojson_marks_negative_weights():
    point, other = made_up([[0.25, 0.5], [0.5, 1.0]], [2.0, -1.0]).to_geojson(lon="y", lat="x")["features"]
    assert point["geometry"] == {"type": "Point", "coordinates": [0.5, 0.25]}
    assert point["properties"] == {"weight": 2.0, "negative": False, "x": 0.25, "y": 0.5}
    assert other["properties"]["negative"] is True
    document = made_up([[0.25, 0.5]], [2.0]).to_geojson(lon="x", lat="y")
    assert "differentially private" in document["covey"]["statement"]
    with pytest.raises(ParameterError, match="lon"):
        made_up([[0.25, 0.5]], [2.0]).to_geojson()


# --- spreads ----------------------------------------------------------------------------------------------------------


def test_costs_count_how_far_rows_are_from_their_points():
    points, weights, spreads = [[0.0, 0.0], [0.5, 0.0]], [3.0, 2.0], [0.25, 0.0]
    plain, spread = made_up(points, weights), made_up(points, weights, spreads=spreads)
    one = [[0.0, 0.5]]
    assert spread.cost(one) == pytest.approx(plain.cost(one) + 3 * 0.25)
    assert plain.cost(one, objective="k-median") < spread.cost(one, objective="k-median")
    bounds = spread_costs(
        spread.scaled(spread.points), spread.weights, np.array([one]), objective="k-median", spreads=spread.spreads
    )
    assert bounds.plain[0] == plain.cost(one, objective="k-median")
    assert bounds.spread[0] == pytest.approx(3 * 0.5**0.5 + 2 * 0.5**0.5)
    assert bounds.plain[0] < bounds.likely[0] < bounds.spread[0]


def test_constant_spreads_move_no_centres_and_stay_with_their_points():
    rng = np.random.default_rng(1)
    points, weights = rng.uniform(-1, 1, (100, 2)), rng.uniform(0, 3, 100)
    plain, spread = made_up(points, weights), made_up(points, weights, spreads=np.full(100, 0.1))
    assert plain.kmeans(3, random_state=1).centres == spread.kmeans(3, random_state=1).centres
    assert plain.kmedian(3, random_state=1).centres == spread.kmedian(3, random_state=1).centres
    marked = made_up(points, weights, spreads=points[:, 0] + 1)
    fewer = marked.reduce(20, random_state=2)
    assert fewer.spreads.tolist() == (fewer.points[:, 0] + 1).tolist()


@pytest.mark.parametrize("wrong", [[1.0], [[1.0], [1.0]], [1.0, -0.1], [1.0, float("nan")], "ab"])
def test_spreads_are_one_number_for_each_point(wrong):
    with pytest.raises(ParameterError, match="spreads"):
        made_up([[0.0, 0.0], [0.5, 0.0]], [3.0, 2.0], spreads=wrong)


def test_a_column_that_is_called_weight_takes_no_weights_place_on_a_map():
    columns, middles = ["lon", "lat", "weight"], [[0.2, 0.3, 60.0], [0.6, 0.4, 80.0]]
    domain = {"type": "box", "lower": [0, 0, 50], "upper": [1, 1, 90]}
    plain = made_up([[0.25, 0.5], [0.5, 1.0]], [2.0, -1.0]).certificate
    coreset = Coreset(middles, [2.0, -1.0], columns=columns, certificate=msgspec.structs.replace(plain, domain=domain))
    told = [each["properties"] for each in coreset.to_geojson()["features"]]
    assert [(each["weight"], each["weight_"]) for each in told] == [(2.0, 60.0), (-1.0, 80.0)]

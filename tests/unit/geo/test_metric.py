"""How much columns count: by the request and by public bounds; longitude and latitude in equal metres."""

import math

import numpy as np
import pandas as pd
import pytest

from covey import Ball, Box, Coreset, KMeans, ParameterError, PrivateCoreset, Release
from covey.errors import FormatError
from covey.fit.fit import fit
from covey.fit.slider import fit_levels
from covey.fit.zones import Zones
from covey.geo.metric import measured
from covey.private.lattice import to_lattice
from covey.public import Domain, Person
from covey.published.certificate import reach_of, scale_of
from covey.published.levels.files import from_json, to_json

CITY = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
NORTH = math.cos(math.radians(40.8))


def domain_of(bounds, scale=None, names=None, width=2) -> Domain:
    return measured(bounds, scale, person=Person(), names=names, width=width)


def test_a_map_is_measured_in_equal_metres_and_its_certificate_says_so():
    domain = domain_of(CITY)
    assert domain.scale == (pytest.approx(NORTH, rel=1e-5), 1.0)
    assert domain.unit[1] == pytest.approx(domain.unit[0] * NORTH, rel=1e-5)
    told = domain.describe()
    assert told["equal_metres"] is True
    assert told["scale"] == list(domain.scale)
    assert domain_of(Box(pickup_latitude=(59, 61), pickup_longitude=(-1, 1))).scale == (1.0, 0.5)


@pytest.mark.parametrize(
    "bounds",
    [
        Box((-74.1, -73.9), (40.7, 40.9)),  # without names
        Box(x=(-74.1, -73.9), y=(40.7, 40.9)),
        Box(lon=(-74.1, -73.9), age=(40.7, 40.9)),
        Box(lon=(0, 5e5), lat=(4e6, 5e6)),  # no degrees
        Ball(200.0, columns=("lon", "lat")),
    ],
)
def test_what_is_no_map_stays_as_it_is(bounds):
    domain = domain_of(bounds)
    assert domain.scale is None
    assert "scale" not in domain.describe()
    assert "equal_metres" not in domain.describe()


def test_a_column_counts_as_many_times_as_is_said():
    domain = domain_of(Box(age=(0, 100), pay=(0, 50)), {"age": 2})
    assert domain.scale == (1.0, 0.5)
    assert domain.unit.tolist() == [50.0, 50.0]
    assert domain_of((0, 1), [1, 4]).scale == (0.25, 1.0)
    assert domain_of((0, 1), [3, 3]).scale is None
    both = domain_of(Box(lon=(-74.1, -73.9), lat=(40.7, 40.9), age=(0, 1)), {"age": 4}, width=3)
    assert both.scale == (pytest.approx(NORTH / 4, rel=1e-5), 0.25, 1.0)


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"agee": 2}, "agee"),
        ({"age": 0}, "positive"),
        ({"age": -1}, "positive"),
        ({"age": math.nan}, "positive"),
        ({"age": math.inf}, "positive"),
        ({"age": True}, "positive"),
        ({"age": "2"}, "positive"),
        ([1, 2, 3], "2 numbers"),
        (2.0, "dictionary"),
        ({"age": 1e6, "pay": 1e-6}, "leave it out"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_parameter(scale, words):
    with pytest.raises(ParameterError, match=f"^scale: .*{words}"):
        fit("no such file.csv" if scale is None else pd.DataFrame({"age": [1.0], "pay": [2.0]}), k=1, epsilon=1.0,
            bounds=Box(age=(0, 1), pay=(0, 1)), scale=scale)  # fmt: skip


def test_a_ball_has_one_radius():
    with pytest.raises(ParameterError, match="scale: is for a Box"):
        domain_of(Ball(1.0), [1, 2])


@pytest.mark.parametrize("times", [0.3, 3])
def test_rows_stay_in_the_part_of_the_cube_that_their_column_takes(times):
    """Sensitivities are those of rows in the cube: what counts more than others must not leave it."""
    domain = domain_of(CITY, {"lat": times})
    rows = np.array([[-80.0, -70.0, -74.1, -73.9, np.nan, np.inf], [0.0, 90.0, 40.9, 40.7, -np.inf, 40.8]])
    lattice = to_lattice(rows, domain)
    assert np.abs(lattice).max() == domain.limit
    assert (np.abs(lattice) <= np.rint(domain.corners[1])[:, None]).all()
    assert (
        np.abs(domain.from_lattice(lattice.T[:4]) - [[-74.1, 40.7], [-73.9, 40.9], [-74.1, 40.9], [-73.9, 40.7]]).max()
        < 1e-6
    )


def test_zones_are_looked_for_where_rows_can_be():
    domain = domain_of(CITY, {"lon": 0.001})
    regions = Zones.read([(Box(lon=(-74.0, -73.95)), 0.1)]).on(domain)
    spots = regions.spots()
    assert (np.abs(spots) <= np.rint(domain.corners[1])[:, None]).all()
    assert np.bincount(regions.index(spots[:, :4096]))[1] == pytest.approx(1024, abs=64), "spread over all the bounds"


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Six places, three beside and three above one another, as far apart in degrees."""
    rng = np.random.default_rng(2)
    middles = np.array([[-74.05, 40.75], [-73.95, 40.75], [-74.05, 40.85], [-73.95, 40.85]])
    return pd.DataFrame(middles[rng.integers(0, 4, 3000)] + rng.normal(0, 0.004, (3000, 2)), columns=["lon", "lat"])


@pytest.fixture(scope="module")
def model(rows) -> KMeans:
    asked = {"bounds": CITY, "algorithm": "grid", "algorithm_params": {"keep_synopsis": True}, "random_state": 1}
    return KMeans(2, epsilon=5.0, **asked).fit(rows)


def test_two_centres_part_the_city_along_its_longer_side(rows, model):
    """In degrees both sides are as long; in metres the city is longer from south to north."""
    centres = model.cluster_centers_
    assert abs(centres[0, 1] - centres[1, 1]) > 0.06 > 0.03 > abs(centres[0, 0] - centres[1, 0])
    metres = (rows.to_numpy()[:, None] - centres) * [NORTH, 1.0]
    assert (model.predict(rows) == np.square(metres).sum(axis=2).argmin(axis=1)).all()


def test_a_file_keeps_the_metric_and_costs_agree(rows, model, tmp_path):
    model.release_.save(tmp_path / "release.json")
    again = Release.load(tmp_path / "release.json")
    assert again == model.release_
    middle, unit = again.scale()
    assert unit == pytest.approx(model._domain.unit)
    assert reach_of(again.certificate.domain) == pytest.approx(model._domain.reach)
    coreset, scaled = Coreset.of(again), (rows.to_numpy() - middle) / unit
    centres = (np.array([[-74.0, 40.75], [-74.0, 40.85]]) - middle) / unit
    exact = np.square(scaled[:, None] - centres).sum(axis=2).min(axis=1).sum()
    assert coreset.cost(centres * unit + middle, objective="k-means") == pytest.approx(exact, rel=0.1)
    way = coreset.mean_way(centres * unit + middle)
    on_earth = (rows.to_numpy()[:, None] - (centres * unit + middle)) * [NORTH, 1.0]
    assert way.cost == pytest.approx(111_320 * np.sqrt(np.square(on_earth).sum(axis=2)).min(axis=1).mean(), rel=0.1)
    other = coreset.kmeans(2, random_state=0)
    assert abs(other.centres[0][1] - other.centres[1][1]) > 0.06


def test_cells_and_centres_stay_within_the_bounds(rows, model):
    made = PrivateCoreset(3, epsilon=1.0, bounds=CITY, random_state=0).fit(rows).coreset_
    for coreset in (Coreset.of(model.release_), made):
        low, high = coreset.points - coreset.cells / 2, coreset.points + coreset.cells / 2
        assert (low >= np.array([-74.1, 40.7]) - 1e-6).all()
        assert (high <= np.array([-73.9, 40.9]) + 1e-6).all()
        assert (coreset.cells > 0).all()


def test_levels_keep_the_metric(rows):
    levels = fit_levels(rows, bounds=CITY, scale={"lon": 0.5}, random_state=0)
    again = from_json(to_json(levels))
    assert again.domain == levels.domain
    assert again.domain.scale == (pytest.approx(NORTH / 2, rel=1e-5), 1.0)
    release = again.release(4, 2)
    assert abs(release.centres[0][1] - release.centres[1][1]) > 0.06
    assert (np.abs(again.boxes(4).points) <= again.domain.reach).all()
    old = to_json(fit_levels(rows.to_numpy(), bounds=Box((-74.1, -73.9), (40.7, 40.9)), random_state=0))
    assert from_json(old).domain.scale is None
    assert from_json(old.replace(b'"scale":[1.0,1.0]', b'"scale":null')).domain.scale is None
    with pytest.raises(FormatError, match="scale"):
        from_json(to_json(levels).replace(b'"scale":[', b'"scale":[-2,'))


def test_coresets_of_another_metric_are_not_merged(rows):
    one, other = (
        PrivateCoreset(2, epsilon=1.0, bounds=CITY, scale=scale, method="grid", random_state=0).fit(rows).coreset_
        for scale in (None, {"lon": 2})
    )
    with pytest.raises(ParameterError, match="domain"):
        one.merge(other)


def test_a_scale_in_a_file_is_one_that_can_be(model):
    document = model.release_.to_json()
    for wrong in (b'"scale": [0.5, 0.5]', b'"scale": [0, 1]', b'"scale": [1]', b'"scale": "x"'):
        text = document.replace(b'"equal_metres"', wrong + b', "equal_metres"').replace(b'"scale": [\n', b'"old": [\n')
        with pytest.raises(Exception, match="no possible promise"):
            Release.from_json(text)
    assert scale_of({"type": "box", "lower": [0, 0], "upper": [2, 4]})[1].tolist() == [1, 2]

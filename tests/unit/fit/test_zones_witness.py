"""A row for every promise: zones that nobody can be in are refused, and every epsilon that is told is some row's."""

import math
import re
import time
from fractions import Fraction

import numpy as np
import pytest

from covey import Ball, Box, KMeans, Ledger, ParameterError, PrivateCoreset
from covey.fit.slider import CHOICES, fit_levels
from covey.fit.zones import read_zones
from covey.geo import thin
from covey.private.lattice import to_lattice
from covey.private.narrowed.zones import ALWAYS
from covey.public import resolve_bounds

SQUARE = Box((-1, 1), (-1, 1))
DOMAIN = resolve_bounds(SQUARE, names=None, width=2)
STEP = 1 / DOMAIN.limit


def box(x1, x2, y1=None, y2=None):
    y1, y2 = (x1, x2) if y1 is None else (y1, y2)
    return [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]


def zones(*given):
    """Zones a, b, c, ... of rings: the first is the outer one."""
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"epsilon": epsilon, "name": chr(ord("a") + i)},
                "geometry": {"type": "Polygon", "coordinates": list(rings)},
            }
            for i, (epsilon, *rings) in enumerate(given)
        ],
    }


def of(*sides):
    return [(Box(*ranges), epsilon) for epsilon, *ranges in sides]


FRAME = (0.1, box(-0.5, 0.5), box(0.12345, 0.12346))
BALL = Ball(1.0).domain(None, 2)
MANY = Ball(1.0).domain(None, 40)


@pytest.mark.parametrize(
    ("given", "domain"),
    [
        (zones((0.1, box(0, 0.5))), DOMAIN),
        (zones((0.1, box(-0.5, 0.5)), (0.2, box(-0.5 - 8 * STEP, 0.5 + 8 * STEP))), DOMAIN),
        (zones((0.1, box(0, 0.3, 0, 0.5)), (0.15, box(0.30001, 0.5, 0, 0.5)), (0.2, box(0.1, 0.4))), DOMAIN),
        (zones(FRAME, (0.2, box(-0.4, 0.4))), DOMAIN),
        (zones((0.1, [[0.9, 1.09999], [1.09999, 0.9], [1.5, 1.5]])), DOMAIN),
        (zones((0.1, box(1 + STEP, 2, -0.5, 0.5))), DOMAIN),
        (zones((0.1, box(-9, 0.5))), DOMAIN),
        (zones((0.1, box(0, STEP / 100))), DOMAIN),
        (zones((0.1, box(0, 0.5)), (0.1, box(0.1, 0.2))), DOMAIN),
        (of((0.1, (-1, 0), (-1, 1)), (0.2, (0, 1), (-1, 0.5)), (0.3, (-0.5, 0.5), (0, 0.75))), DOMAIN),
        (of((0.1, (0.9999, 2), (-3, 3))), BALL),
        (zones((0.1, [[0.95, -0.3], [2, -0.3], [2, 9], [0.95, 9]])), BALL),
        (zones((0.1, [[0.999, -0.6], [2, -0.6], [2, 9], [0.999, 9]])), BALL),
        (of((0.1, *[(0.15, 1)] * 40)), MANY),
    ],
    ids=[
        "plain",
        "a thin rim of a stricter one",
        "a gap between stricter ones",
        "a hole of a stricter one",
        "only an edge enters the bounds",
        "one step outside, where the border is",
        "corners far outside",
        "thinner than a lattice step",
        "covered by one of its own epsilon",
        "boxes, a part is left",
        "at the rim of a ball",
        "a polygon at the rim of a ball",
        "a polygon that hardly enters a ball",
        "at the rim of a ball of many columns",
    ],
)
def test_every_zone_has_a_row_that_gets_its_epsilon(given, domain):
    thinning = read_zones(given, epsilon=Fraction(1), domain=domain)
    *rows, outside = thinning.zones.witnesses(thinning.regions)
    for zone, row in zip(thinning.zones.zones, rows, strict=True):
        [number] = thinning.regions.index(to_lattice(row[:, None], domain))
        assert thinning.regions.areas[number - 1].epsilon == zone.epsilon
        assert number > 0
        assert np.linalg.norm(row, None if domain.ball else np.inf) <= 1 + 1e-12
    assert thinning.regions.index(to_lattice(outside[:, None], domain)).tolist() == [0]


@pytest.mark.parametrize(
    ("given", "domain", "name"),
    [
        (zones((0.1, box(2, 3)), (0.2, box(0, 0.1))), DOMAIN, "'a'"),
        (zones((0.2, box(0, 0.1)), (0.1, box(1 + 4 * STEP, 2, -0.5, 0.5))), DOMAIN, "'b'"),
        (zones((0.1, box(0, 0.5)), (0.2, box(0, 0.5))), DOMAIN, "'b'"),
        (zones((0.2, box(0.1, 0.4)), (0.1, box(0, 0.5))), DOMAIN, "'a'"),
        (zones((0.1, box(0, 0.3, 0, 0.5)), (0.15, box(0.3, 0.5, 0, 0.5)), (0.2, box(0.1, 0.4))), DOMAIN, "'c'"),
        (zones((0.1, box(0, 0.5)), (0.2, box(-STEP, 0.5 + STEP))), DOMAIN, "'b'"),
        (of((0.1, (-1, 0), (-1, 1)), (0.2, (0, 1), (-1, 0.5)), (0.3, (-0.5, 0.5), (0, 0.25))), DOMAIN, "'zone 3'"),
        (of((0.1, (3, 4), (0, 1)), (0.2, (0, 0.5), (0, 1))), DOMAIN, "'zone 1'"),
        (of((0.1, (0.8, 1), (0.8, 1))), BALL, "'zone 1'"),
        (of((0.1, *[(0.17, 1)] * 40)), MANY, "'zone 1'"),
    ],
    ids=[
        "outside",
        "just outside",
        "twice",
        "within a stricter one",
        "within two stricter ones",
        "a rim that belongs to the border",
        "boxes that cover a box",
        "a box outside",
        "in the cube but not in the ball",
        "in the cube but not in the ball, many columns",
    ],
)
def test_a_zone_whose_epsilon_nobody_gets_is_refused_by_name(given, domain, name):
    with pytest.raises(ParameterError, match=rf"zones: no row .* of {name}"):
        read_zones(given, epsilon=Fraction(1), domain=domain)


def test_zones_that_leave_nobody_the_promise_of_all_others_are_refused_but_not_at_a_node():
    for all_of_it in (of((0.1, (-1, 1), (-1, 1))), zones((0.1, box(-9, 0)), (0.2, box(-9, 9)))):
        with pytest.raises(ParameterError, match="cover all"):
            read_zones(all_of_it, epsilon=Fraction(1), domain=DOMAIN)
    assert len(thin(np.zeros((1000, 2)), of((0.1, (-180, 180), (-90, 90))), epsilon=1.0)) < 500


def test_a_zone_is_promised_more_than_all_others_or_refused():
    for epsilon in (1.0, 1.0 - 2.0**-60):
        with pytest.raises(ParameterError, match="below"):
            read_zones(of((epsilon, (0, 1), (0, 1))), epsilon=Fraction(1), domain=DOMAIN)


def test_refused_before_anything_is_paid():
    book = Ledger.memory(dataset="d", epsilon=1)
    for fit in (
        lambda: KMeans(2, epsilon=1, bounds=SQUARE, zones=zones((0.1, box(2, 3))), ledger=book, dataset="d").fit,
        lambda: lambda rows: fit_levels(rows, bounds=SQUARE, zones=zones((0.1, box(2, 3))), ledger=book, dataset="d"),
    ):
        with pytest.raises(ParameterError, match="'a'"):
            fit()(np.zeros((50, 2)))
    assert book.datasets()["d"].spent.epsilon == 0


def test_found_in_time():
    """Nearly a thousand zones and a hundred thousand corners."""
    angles = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1) * 0.02
    middles = np.stack(np.meshgrid(*[np.linspace(-0.95, 0.95, 30)] * 2), axis=-1).reshape(-1, 2)
    many = zones(*([0.01 * (1 + i % 60), (circle + at).tolist()] for i, at in enumerate(middles)))
    took = []
    for _ in range(2):  # the quicker: other work of the machine counts too
        started = time.process_time()
        assert read_zones(many, epsilon=Fraction(1), domain=DOMAIN) is not None
        took.append(time.process_time() - started)
    assert min(took) < 20  # about 2 s


# --- what is told -----------------------------------------------------------------------------------------------------

TOLD = zones((0.2, box(-0.5, 0.5)), (0.1, box(0.25, 0.75)), (0.5, box(-0.9, 0.9)))
ROWS = np.random.default_rng(5).uniform(-1, 1, (2000, 2))
ONE_LEVEL = re.compile(r"whoever saw all levels saw epsilon = \S+")  # of other publications: told, not promised


def promised(thinning, epsilon):
    """What each row of the search gets when all other rows get epsilon: ln(1 + q(e^ε - 1)), q the rate of its coin."""
    for row in thinning.zones.witnesses(thinning.regions):
        [number] = thinning.regions.index(to_lattice(row[:, None], DOMAIN))
        yield math.log1p(thinning.coins.keeping[number] / ALWAYS * math.expm1(epsilon))


def told(statement):
    amounts = re.findall(r"epsilon = ((?:[\d.e-]*\d(?:, )?)+)", ONE_LEVEL.sub("", statement))
    return {float(each) for group in amounts for each in group.split(", ") if each}


def releases():
    asked = {"epsilon": 1.0, "bounds": SQUARE, "zones": TOLD, "random_state": 1}
    yield KMeans(2, **asked, algorithm="grid").fit(ROWS).release_.certificate
    yield KMeans(2, **asked, algorithm="lloyd", delta=1e-6).fit(ROWS).release_.certificate
    yield PrivateCoreset(**asked).fit(ROWS).coreset_.certificate
    found = fit_levels(ROWS, bounds=SQUARE, zones=TOLD, random_state=1, per_axis=4)
    for level in range(len(found.levels)):
        for chosen in CHOICES[:3]:  # the fourth adds what other releases cost
            yield found.release(level, 2, chosen=chosen).certificate


def test_every_epsilon_that_is_told_is_what_some_row_gets_and_none_is_left_out():
    for certificate in releases():
        whole = certificate.parameters.get("epsilon_of_all_levels", 1.0)
        thinning = read_zones(TOLD, epsilon=Fraction(str(whole)), domain=DOMAIN)
        rows = sorted(set(promised(thinning, certificate.epsilon)))
        assert sorted(told(certificate.statement)) == pytest.approx(rows, rel=1e-9)
        amounts = sorted(zone["epsilon"] for zone in certificate.parameters["zones"])
        assert [*amounts, certificate.epsilon] == pytest.approx(rows, rel=1e-9)

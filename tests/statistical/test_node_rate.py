"""A node's coins keep the promised share of its rows: the right rate is accepted, one ten per cent larger is not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from covey.fit.node import Share, Upload, thin_file
from covey.fit.zones import keeping
from covey.private.narrowed.zones import ALWAYS
from covey.public import Box

ROWS, WRONG = 100_000, 1e-10
ZONES = [(Box(lon=(1, 2), lat=(1, 2)), 0.2), (Box(lon=(1, 4), lat=(1, 2)), 0.6)]  # the second around the first


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> Upload:
    track = tmp_path_factory.mktemp("node") / "track.csv"
    places = np.repeat([1.5, 3.0, 6.0], ROWS)
    track.write_text("lon,lat\n" + "".join(f"{x},1.5\n" for x in places))
    return thin_file(track, ZONES, epsilon=1.0)


@pytest.mark.parametrize(("off", "accepted"), [(1, True), (0.9, False), (1.1, False)])
@pytest.mark.parametrize("number", [0, 1])
def test_the_rate_is_that_of_the_strictest_zone_and_this_test_can_tell(
    upload: Upload, number: int, off: float, accepted: bool
) -> None:
    share = upload.shares[number]
    assert share.rows == ROWS
    rate = np.expm1(float(share.epsilon)) / np.expm1(1) * off
    assert (binomtest(share.sent, ROWS, rate).pvalue > WRONG) == accepted


def test_rows_in_no_zone_all_leave(upload: Upload) -> None:
    assert upload.sent - sum(each.sent for each in upload.shares) == ROWS
    assert upload.content.count(b"\n") == upload.sent + 1


@pytest.mark.parametrize(("zone", "whole"), [("0.1", "1"), ("0.5", "2"), ("0.001", "3")])
def test_what_is_promised_at_another_epsilon_is_attained_by_a_count_and_not_exceeded(zone: str, whole: str) -> None:
    """Laplace noise on a count of the kept rows: the largest ratio of densities with and without one row."""
    share = Share((), Fraction(zone), keeping(Fraction(zone), Fraction(whole)), 0, 0)
    rate = share.words / ALWAYS
    assert share.promised(float(whole)) == pytest.approx(float(zone), rel=1e-12)
    for epsilon in (0.25, 1, 2, 5, 20):
        places = np.linspace(-30, 30, 601)
        without = np.exp(-epsilon * np.abs(places))
        with_row = (1 - rate) * without + rate * np.exp(-epsilon * np.abs(places - 1))
        loss = np.abs(np.log(with_row / without)).max()
        assert loss == pytest.approx(share.promised(epsilon), rel=1e-9)


def test_releases_from_one_upload_add_up_before_the_coins_are_counted() -> None:
    """Two releases share the coins: together they tell more than twice what one does, and so it is promised."""
    share = Share((), Fraction("0.1"), keeping(Fraction("0.1"), Fraction(1)), 0, 0)
    rate, one = share.words / ALWAYS, math.exp(1)
    both = math.log((1 - rate) + rate * one**2)  # of the result that favours the row in both
    assert both == pytest.approx(share.promised(2))
    assert both > 2 * share.promised(1)
    assert share.promised(10_000) == pytest.approx(10_000 + math.log(rate))

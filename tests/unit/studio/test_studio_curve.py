"""The curve of the studio: what it is drawn from."""

import math

from covey.post.errors.costs import FEW, WIDE, Cost
from covey.published.coreset.answers import ZONED
from covey.published.coreset.choose import Choice
from covey.studio.curve import drawn


def choice(*costs: Cost) -> Choice:
    return Choice(2, 2, 2, 3, dict(enumerate(costs, start=2)), more=False)


def test_a_cost_that_noise_hides_is_no_point_of_the_curve():
    hidden = Cost(12.0, math.nan, math.nan, WIDE)
    told = drawn(choice(Cost(20.0, 18.0, 22.0), hidden, Cost(10.0, math.nan, math.nan, ZONED)))["costs"]
    assert told == [[2, 1.0, 0.9, 1.1], [3, None, None, None], [4, 0.5, None, None]]


def test_nothing_is_a_part_of_a_cost_that_noise_hides():
    hidden = Cost(12.0, math.nan, math.nan, FEW)
    assert drawn(choice(hidden, Cost(10.0, 9.0, 11.0)))["costs"] == []
    assert drawn(choice(Cost(-1.0, -2.0, 0.5), Cost(10.0, 9.0, 11.0)))["costs"] == []
    assert drawn(choice())["costs"] == []

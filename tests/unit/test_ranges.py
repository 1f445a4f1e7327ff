"""Ranges that algorithms declare in their signatures: what the registry takes, and what it refuses in which words."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

import numpy as np
import pytest

from covey.algorithms.registry import Algorithm, find
from covey.checks import Between, Flag, OneOf, Positive, Ranges, Whole
from covey.errors import ParameterError

DECLARED = {
    "whole": (Annotated[int, Whole(2, 9)], [2, np.int8(9)], [1, 10, 2.0, True, None, "2"]),
    "whole, or None": (Annotated[int, Whole(2)] | None, [None, 10**6], [1, 10**6 + 1, "None"]),
    "positive": (Annotated[float, Positive()], [3, 0.5, Fraction(1, 2)], [0, math.nan, None, "1"]),
    "between": (Annotated[float, Between(0.05, 1)], [0.05, 1], [0.04, 1.01, 0, True]),
    "a text": (Annotated[str, OneOf("a", "b")], ["a", "b"], ["c", None, ["a"], 1]),
    "a number or a text": (
        Annotated[int, Whole(1)] | Annotated[str, OneOf("all")] | None,
        [1, "all", None],
        [0, "none", 1.5, ["all"], True],
    ),
    "a flag": (Annotated[bool, Flag()], [True, False], [1, 0, "yes", None]),
}


@pytest.mark.parametrize("what", DECLARED)
def test_a_declared_range_is_read_and_its_refusals_name_the_parameter(what):
    hint, good, bad = DECLARED[what]

    def run(curator, *, k, own=good[0]):
        raise AssertionError

    run.__annotations__["own"] = hint
    row = Algorithm(name="toy", run=run, summary="", paper="")
    for value in good:
        assert row.check_parameters({"own": value}) == {"own": value}
    for value in bad:
        with pytest.raises(ParameterError, match=r"^own: must be "):
            row.check_parameters({"own": value})


def test_a_number_or_a_text_is_refused_in_the_words_of_its_own_kind():
    ranges = Ranges.of(
        Annotated[int, Whole(1)] | Annotated[str, OneOf("all", says="must be 'all', or a number")] | None
    )
    with pytest.raises(ParameterError, match=r"^c: must be a whole number"):
        ranges.read("c", 0)
    with pytest.raises(ParameterError, match=r"^c: must be 'all', or a number"):
        ranges.read("c", "some")


def test_values_come_as_the_types_that_formulas_take():
    row = find("grid")
    assert type(row.check_parameters({"theta": 5})["theta"]) is float
    assert type(row.check_parameters({"starts": np.int64(5)})["starts"]) is int
    assert row.check_parameters({}) == {}

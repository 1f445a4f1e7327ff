"""Extremes of the slider's levels: every epsilon, absurd files, honest words after every choice, file and merge."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction

import numpy as np
import pytest

from covey import Box, Ledger
from covey.budget.accounting.accountant import Cost
from covey.errors import FormatError, ParameterError
from covey.fit import slider
from covey.noise.chain import ChainedLaplace
from covey.public import Person
from covey.published.levels.files import from_json, to_json
from covey.studio.view import promise

UNIT = Box((0, 1), (0, 1))
ROWS = np.random.default_rng(3).uniform(0, 1, (500, 2))


def test_equal_levels_are_refused():
    with pytest.raises(ParameterError, match="ascend"):
        ChainedLaplace((Fraction(1), Fraction(1)))
    with pytest.raises(ParameterError, match="ascend"):
        slider.check_levels([("a", 1), ("b", 1.0)])


@pytest.mark.parametrize("levels", [[("a", 1.0), ("b", 2000.0)], [("a", 1e4)], [("a", 1e-6), ("b", 1e4)]])
@pytest.mark.parametrize("zones", [None, [(Box((0, 0.5), (0, 0.5)), 1e-6)]])
def test_every_epsilon_that_may_be_paid_for_gives_levels_that_can_be_read(levels, zones):
    """Noise of so large an epsilon is nothing at all, and its variance no number beyond what floats hold."""
    if zones is not None and levels[-1][1] > 40:
        zones = [(Box((0, 0.5), (0, 0.5)), levels[-1][1] - 1)]
    found = slider.fit_levels(ROWS, bounds=UNIT, levels=levels, zones=zones, per_axis=4)
    for level in range(len(levels)):
        assert len(found.release(level, 2).centres) == 2
        assert math.isfinite(found.expected(level)["rows_standing_out"])
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


def test_all_ways_of_choosing_stay_honest_after_a_file(tmp_path):
    zones = [(Box((0, 0.5), (0, 0.5)), 0.3)]
    found = slider.fit_levels(ROWS, bounds=UNIT, zones=zones, random_state=1, per_axis=4)
    found.save(tmp_path / "levels.json")
    back = slider.LevelSet.load(tmp_path / "levels.json")
    for level, (_, epsilon) in enumerate(slider.USUAL_LEVELS):
        for chosen in slider.CHOICES:
            how = {"chosen": chosen, "together": Cost(Fraction(2)) if chosen == "after other releases" else None}
            one = back.release(level, 2, **how).certificate
            assert one == found.release(level, 2, **how).certificate
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


def test_whoever_sees_several_levels_is_told_what_all_of_them_cost():
    usual = slider.USUAL_LEVELS
    several, one = (slider.fit_levels(ROWS, bounds=UNIT, per_axis=4, levels=each) for each in (usual, usual[:1]))
    assert "what all levels show by a factor of at most 7.39, and of what this one alone" in several.meaning(0)
    assert several.meaning(0).endswith("at most 1.11.")
    assert one.meaning(0).endswith("of what is shown by a factor of at most 1.11.")


def test_a_merge_does_not_hide_that_a_choice_is_not_covered():
    one, two = (slider.fit_levels(ROWS, bounds=UNIT, per_axis=4, dataset=name) for name in ("a", "b"))
    seen = one.coreset(2, chosen="with sight of raw data")
    for disjoint in (True, False):
        assert "not covered" in seen.merge(two.coreset(2), disjoint=disjoint).certificate.statement
    assert "not covered" not in one.coreset(2).merge(two.coreset(2), disjoint=True).certificate.statement
    assert "not covered" in seen.reduce(3).kmeans(2).certificate.statement

"""The attack on floating-point noise (Mironov 2012): outputs that only one of two neighbouring data sets can produce.

A float sampler leaves holes: -b·ln(u) takes few of the floats there are, and adding it to 0 or to 1 leaves different
ones. An attacker who sees such an output knows the data set for certain, whatever epsilon says. Covey's noise is made
of integers, every one of which is possible on both data sets.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from covey.events import Sensitivity
from covey.noise import SeededSource
from covey.noise.mechanisms import DiscreteLaplace

DRAWS = 10**6
FINEST = 8  # grains finer than this are too rare to be learnt from a million outputs
Floats = NDArray[np.float64]


def naive(count: int, exact: float, seed: int) -> Floats:
    """What textbooks and most programs do: exact + Laplace noise, in floats."""
    rng = np.random.default_rng(seed)
    return exact + np.where(rng.random(count) < 0.5, -1.0, 1.0) * -np.log(1 - rng.random(count))


def covey(count: int, exact: int, seed: int, *, unit: int = 2**20) -> Floats:
    """A count of Covey's in units of 2^-20, as the float that is published."""
    one = Sensitivity(l1=unit, l2_squared=unit**2, linf=unit, coordinates=1)
    noisy = DiscreteLaplace(Fraction(1)).add(np.full(count, exact * unit), one, SeededSource(seed))
    return noisy / unit


def grains(outputs: Floats) -> NDArray[np.int64]:
    """How fine each output is: its binade, and the number of zero bits that its mantissa ends in, up to a limit."""
    mantissa, exponent = np.frexp(outputs)
    whole = np.ldexp(np.abs(mantissa), 53).astype(np.int64)
    zeros = np.zeros(len(outputs), dtype=np.int64)
    lowest = whole & -whole
    zeros[whole != 0] = np.log2(lowest[whole != 0]).astype(np.int64)  # powers of two: exact
    return zeros * 100 + np.clip(exponent, -2, 4)


def certain(outputs: Floats, other: Floats) -> int:
    """How many outputs have a grain that never occurs on the neighbouring data set, though it is common enough here.

    The grains are learnt from one half of the outputs and counted in the other.
    """
    half = len(outputs) // 2
    kinds, many = np.unique(grains(outputs[:half]), return_counts=True)
    common = kinds[many >= half >> FINEST + 4]
    telling = np.setdiff1d(common, grains(other))
    return int(np.isin(grains(outputs[half:]), telling).sum())


def test_the_attack_catches_the_naive_sampler():
    assert certain(naive(DRAWS, 0.0, 1), naive(DRAWS, 1.0, 2)) > 0.05 * DRAWS / 2


def test_the_attack_finds_nothing_in_a_million_outputs_of_covey():
    assert certain(covey(DRAWS, 0, 3), covey(DRAWS, 1, 4)) == 0


def impossible(outputs: Floats, *, exact: float) -> int:
    """How many outputs the naive sampler cannot have made from `exact`: no uniform float of 53 bits near the right
    place has that logarithm. Only for outputs above `exact`."""
    above = outputs[(outputs > exact) & (outputs < 20)]
    around = np.rint(np.exp(-(above - exact)) * 2**53)
    made = np.zeros(len(above), dtype=bool)
    reach = 40
    for step in range(-reach, reach + 1):
        uniform = (around + step) / 2**53
        with np.errstate(all="ignore"):
            made |= exact + -np.log(uniform) == above
    return int((~made).sum())


def test_the_preimage_attack_tells_the_naive_samplers_data_sets_apart():
    """Outputs from 1 that 0 cannot have made: each of them settles the matter."""
    outputs = naive(20_000, 1.0, 7)
    outputs = outputs[outputs < 1.0]
    assert impossible(naive(20_000, 0.0, 8), exact=0.0) == 0, "it never accuses the wrong data set"
    assert impossible(outputs, exact=0.0) > 0.2 * (outputs > 0).sum()


@pytest.mark.parametrize("exact", [0, 1, -7, 10**6])
def test_every_output_of_covey_is_possible_on_both_data_sets(exact):
    """The exact likelihood ratio of every output, as rational numbers: never beyond e^epsilon, and never infinite."""
    unit = 2**20
    outputs = covey(DRAWS // 10, exact, 9)
    integers = outputs * unit
    assert (integers == np.rint(integers)).all(), "an output that is no multiple of the unit tells the data sets apart"
    here = np.abs(integers.astype(np.int64) - exact * unit)
    there = np.abs(integers.astype(np.int64) - (exact + 1) * unit)
    assert int(np.abs(here - there).max()) <= unit, "in units of 1/epsilon: the privacy loss is at most epsilon"


def test_every_small_integer_has_the_probability_that_it_should():
    """No holes: in a million draws of scale 20, every integer within 60 occurs as often as the law says."""
    one = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)
    drawn = DiscreteLaplace(Fraction(1, 20)).add(np.zeros(DRAWS, dtype=np.int64), one, SeededSource(10))
    q = math.exp(-1 / 20)
    for number in range(-60, 61):
        expected = DRAWS * (1 - q) / (1 + q) * q ** abs(number)
        assert abs((drawn == number).sum() - expected) < 8 * math.sqrt(expected)

"""Discrete Laplace noise: the law by brute force from the wheels' own thresholds, its tail, its limits."""

from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.noise import OsSource, SeededSource
from covey.noise.coins import exp_bounds
from covey.noise.laplace import LARGEST_SCALE, _wheels, digit, discrete_laplace

RATES = [
    Fraction(1),
    Fraction(1, 3),
    Fraction(7, 2),
    Fraction(60),
    Fraction(1, 100),
    Fraction(1, 5000),
    Fraction(1, 2**55),
]
BITS = 200


def exactly_geometric(rate, number):
    """P(G = number) within 2^-190, from e^-rate directly."""
    at_least = [Fraction(exp_bounds(rate * m, BITS)[0], 1 << BITS) for m in (number, number + 1)]
    return at_least[0] - at_least[1]


@pytest.mark.parametrize("rate", RATES)
def test_the_digits_multiply_to_the_geometric_law(rate):
    """Brute force over numbers: the product of what each wheel promises is (1 - q)·q^g."""
    wheels = _wheels(rate)
    laws = []
    for weight, wheel in wheels:
        edges = [Fraction(edge.leading(BITS), 1 << BITS) for edge in wheel._thresholds]
        laws.append(
            (weight, wheel.size, [a - b for a, b in zip([Fraction(1), *edges], [*edges, Fraction(0)], strict=True)])
        )
    top_weight, top_faces, _ = laws[-1]
    reach = top_weight * top_faces
    assert rate * reach >= 45
    numbers = {0, 1, 2, 3, 17, 63, 64, 65, 100, 4095, 4096, reach // 3, reach - 1}
    for number in (n for n in numbers if n < reach):
        digits = [number // weight % (size + 1) for weight, size, _ in laws[:-1]] + [number // top_weight]
        product = prod(law[d] for d, (_, _, law) in zip(digits, laws, strict=True))
        assert abs(product - exactly_geometric(rate, number)) < Fraction(1, 2**180)


@pytest.mark.parametrize("rate", RATES)
def test_places_are_a_mixed_base(rate):
    wheels = _wheels(rate)
    assert wheels[0][0] == 1
    for (weight, wheel), (following, _) in pairwise(wheels):
        assert following == weight * (wheel.size + 1)
    assert all(wheel.size <= 64 for _, wheel in wheels)


def test_a_digit_is_a_truncated_geometric_number():
    rate, faces = Fraction(1, 7), 8
    weights = [Fraction(exp_bounds(rate * d, BITS)[0], 1 << BITS) for d in range(faces)]
    for k, edge in enumerate(digit(rate, faces=faces, top=False), start=1):
        expected = sum(weights[k:]) / sum(weights)
        assert abs(Fraction(edge.leading(150), 1 << 150) - expected) < Fraction(1, 2**149)


class Scripted:
    seeded = True

    def __init__(self, *answers):
        self.answers = list(answers)

    def words(self, count, dtype):
        expected, values = self.answers.pop(0)
        assert dtype is expected
        assert count == len(values)
        return np.array(values, dtype=dtype)


@pytest.mark.parametrize("negative", [False, True])
def test_the_tail_beyond_the_wheels_goes_on_with_a_fresh_digit(negative):
    """U < e^-64 shows the last face, 64; a fresh top digit follows, here twice: 64 + 64 + 3."""
    three = 1966  # e^-4 < 1966/65536 < e^-3
    first = [65535, 0] if negative else [0, 65535]
    deep = [(np.uint64, [0]), (np.uint64, [0])]
    source = Scripted((np.uint16, first), *deep, (np.uint16, [0]), *deep, (np.uint16, [three]))
    drawn = discrete_laplace(1, inverse_scale=Fraction(1), source=source)
    assert drawn.tolist() == [-131 if negative else 131]
    assert not source.answers


def test_both_halves_of_one_number_may_go_beyond():
    source = Scripted(
        (np.uint16, [0, 0]), (np.uint64, [0, 0]), (np.uint64, [0]), (np.uint64, [0]), (np.uint16, [1966, 65535])
    )
    assert discrete_laplace(1, inverse_scale=Fraction(1), source=source).tolist() == [3]


def test_the_block_size_leaves_no_seam():
    """A shape that is not a multiple of the block is filled to its end, and no block repeats another."""
    drawn = discrete_laplace(3 * (1 << 15) + 5, inverse_scale=Fraction(1, 2**50), source=SeededSource(1))
    assert np.unique(drawn).size == drawn.size
    assert (np.abs(drawn[-5:]) > 2**20).all()


@pytest.mark.parametrize("shape", [0, 1, 7, (), (3,), (2, 3), (0, 4), (1 << 15) + 1])
def test_shapes(shape):
    drawn = discrete_laplace(shape, inverse_scale=Fraction(1, 9), source=OsSource())
    assert drawn.shape == np.empty(shape).shape
    assert drawn.dtype == np.int64


def test_a_seed_repeats_the_noise():
    draws = [discrete_laplace(100, inverse_scale=Fraction(1, 50), source=SeededSource(s)).tolist() for s in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), 1, 0.5, Fraction(1, LARGEST_SCALE + 1)])
def test_wrong_scales_are_refused_by_name(rate):
    with pytest.raises(ParameterError, match=r"^epsilon: ") as refusal:
        discrete_laplace(1, inverse_scale=rate, source=Scripted())
    assert refusal.value.parameter == "epsilon"


def test_the_largest_and_the_smallest_scale():
    wide = discrete_laplace(10_000, inverse_scale=Fraction(1, LARGEST_SCALE), source=SeededSource(1))
    assert 0.9 < np.abs(wide.astype(float)).mean() / 2.0**55 < 1.1
    assert not discrete_laplace(10_000, inverse_scale=Fraction(10**30), source=SeededSource(1)).any()

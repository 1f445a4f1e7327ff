"""Noise by length: every bound holds the number that it is for, and what is proposed and kept is the law exactly."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from math import isqrt

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.noise import SeededSource, radial
from covey.noise.radial import (
    LARGEST_SIZE,
    coin_bounds,
    pi_bounds,
    power_bounds,
    radial_laplace,
    spread_bounds,
    theta_bounds,
)

PI = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798215"
BITS = 200
CLOSE = Decimal(10) ** -50


@pytest.fixture(autouse=True)
def eighty_digits():
    with localcontext(Context(prec=80)):
        yield


def decimal(number: Fraction | int) -> Decimal:
    return Decimal(Fraction(number).numerator) / Decimal(Fraction(number).denominator)


@cache
def theta(sigma: Fraction) -> Decimal:
    """Σ e^(-m²/(2σ²)), term by term; 80 digits are reached where m² > 370σ²."""
    reach = int(20 * sigma) + 20
    return 1 + 2 * sum((decimal(-Fraction(m * m) / (2 * sigma**2)).exp() for m in range(1, reach)), Decimal(0))


def holds(bounds: tuple[int, int], value: Decimal, *, width: int) -> bool:
    low, high = bounds
    return low <= value * (1 << BITS) <= high and high - low <= width


def test_the_circle():
    for bits in (8, 64, BITS):
        low, high = pi_bounds(bits)
        assert low <= Decimal(PI) * (1 << bits) <= high
        assert high == low + 3


@pytest.mark.parametrize("sigma", [Fraction(1, 4), Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(60)])
def test_sums_over_the_integers_by_poissons_formula(sigma):
    """The wide one is 1 to sixty thousand digits: nothing is left of the sum."""
    direct = theta(sigma) / (decimal(sigma) * (2 * Decimal(PI)).sqrt())
    assert holds(theta_bounds(sigma, BITS), direct, width=100)


@pytest.mark.parametrize(("rate", "size"), [(Fraction(4), 1), (Fraction(4), 5), (Fraction(2), 2), (Fraction(4, 3), 12)])
def test_the_spreads_have_their_weights_and_nothing_is_forgotten(rate, size):
    bounds = spread_bounds(rate, size, BITS)
    direct = [decimal(Fraction(-j * j, 2)).exp() * theta(j / rate) ** size for j in range(1, len(bounds) + 9)]
    unit = decimal(rate) / (2 * Decimal(PI)).sqrt()
    scale = Decimal(bounds[0][0] + bounds[0][1]) / 2 / (direct[0] * unit**size)
    total = sum(direct, Decimal(0))
    for (low, high), weight in zip(bounds[:-1], direct, strict=False):
        assert low <= high
        assert abs(Decimal(low + high) / 2 - weight * unit**size * scale) <= CLOSE * total * unit**size * scale
        assert Decimal(high - low) <= CLOSE * total * unit**size * scale
    beyond = sum(direct[len(bounds) - 1 :], Decimal(0)) * unit**size * scale
    assert bounds[-1][0] == 0
    assert beyond <= bounds[-1][1] <= CLOSE * total * unit**size * scale


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 100, 783])
def test_powers_by_squares_hold_the_power(exponent):
    low, high = theta_bounds(Fraction(1, 3), BITS)
    least, most = power_bounds(low, high, exponent, BITS)
    assert Fraction(least, 1 << BITS) <= Fraction(low, 1 << BITS) ** exponent
    assert Fraction(high, 1 << BITS) ** exponent <= Fraction(most, 1 << BITS)
    assert (most - least) << 64 <= most


@pytest.mark.parametrize("size", [1, 2, 3, 4, 10, 99, 784, LARGEST_SIZE])
def test_beyond_the_list_each_weight_is_less_than_half_of_the_one_before(size):
    """(1 + 1/j)^size·e^-(j + 1/2), where the list may end first; the sums over the integers fall as j grows."""
    first = isqrt(size) + 2
    for j in (first, first + 1, 2 * first):
        assert size * (1 + 1 / Decimal(j)).ln() - j - Decimal("0.5") < -Decimal(2).ln()


@pytest.mark.parametrize(
    "square", [Fraction(0), Fraction(1, 9), Fraction(2), Fraction(36), Fraction(37, 5), Fraction(143)]
)
def test_the_coin_of_a_length(square):
    """Every length has one j, at which the coin is between e^-1/2 and 1; where x is j(j-1) it is 1, exactly."""
    x = decimal(square).sqrt()
    (j,) = (j for j in range(1, 9) if (j * (j - 1)) ** 2 <= square < (j * (j + 1)) ** 2)
    coin = (Decimal("-0.5") + (x - j * j) ** 2 / (2 * j * j)).exp()
    assert holds(coin_bounds(square, j, BITS), coin, width=8)
    assert Decimal("-0.5").exp() <= coin <= 1
    if x == j * (j - 1):
        assert coin_bounds(square, j, BITS) == (1 << BITS, 1 << BITS)


@pytest.mark.parametrize(
    ("rate", "size"), [(Fraction(4), 1), (Fraction(5, 4), 2), (Fraction(1, 2), 2), (Fraction(1), 3)]
)
def test_proposed_and_kept_is_the_law_exactly(rate, size, monkeypatch):
    """Σ_j P(j)·P(z | j)·P(kept | j, z) is e^-1/2·e^(-rate·|z|)/W for every z, to 45 digits."""
    coins = []
    monkeypatch.setattr(radial.Uniform, "below", lambda _, coin: bool(coins.append(coin)))
    spreads = [Decimal(low + high) / 2 for low, high in spread_bounds(rate, size, BITS)]
    kept = {}
    for vector in product(range(5) if size < 3 else range(3), repeat=size):  # signs play no part
        length = sum(number * number for number in vector)
        total = Decimal(0)
        for j in range(1, 8):  # lengths up to 4·√2 times 4: j(j - 1) of the last is above
            coins.clear()
            radial._accepted(list(vector), j, rate, SeededSource(1))
            for coin in coins:
                gaussian = decimal(-(rate**2) * length / (2 * j * j)).exp() / theta(j / rate) ** size
                total += spreads[j - 1] * gaussian * Decimal(coin.leading(BITS)) / (1 << BITS)
        kept[vector] = total * (decimal(rate) * Decimal(length).sqrt()).exp()
    level = kept[(0,) * size]
    assert level > 0
    assert all(abs(each / level - 1) < Decimal(10) ** -45 for each in kept.values())


def test_vectors_are_independent():
    drawn = radial_laplace(2000, 2, rate=Fraction(1, 50), source=SeededSource(3)).astype(float)
    lengths = np.sqrt(np.square(drawn).sum(axis=1))
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.1  # numbers of one vector are uncorrelated, if not independent
    assert abs(np.corrcoef(lengths[1:], lengths[:-1])[0, 1]) < 0.1


def test_shapes_and_repetition():
    assert radial_laplace(0, 5, rate=Fraction(1), source=SeededSource(1)).shape == (0, 5)
    first, again = (radial_laplace(7, 5, rate=Fraction(1, 2**36), source=SeededSource(1)) for _ in range(2))
    assert np.array_equal(first, again)
    assert len(np.unique(first)) == 35
    assert np.abs(first).max() > 2**36


@pytest.mark.parametrize(
    "rate", [Fraction(0), Fraction(-1), Fraction(1, 2**36 + 1), Fraction(4) + Fraction(1, 9), 1, 0.5]
)
def test_rates_beyond_the_proof_are_refused(rate):
    with pytest.raises(ParameterError, match="scale of the noise"):
        radial_laplace(1, 1, rate=rate, source=SeededSource(1))


@pytest.mark.parametrize("size", [0, LARGEST_SIZE + 1])
def test_vectors_too_long_for_the_proof_are_refused(size):
    with pytest.raises(ParameterError, match="blocks"):
        radial_laplace(1, size, rate=Fraction(1), source=SeededSource(1))

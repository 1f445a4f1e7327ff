"""The chain of privacy levels: its law by exact convolution, its coins against high precision, its edges."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from covey.errors import ParameterError
from covey.events import Pure, Sensitivity
from covey.noise import DiscreteLaplace, SeededSource
from covey.noise.chain import ChainedLaplace, add_more, stay

UNIT = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)
PAIRS = [("0.1", "0.25"), ("0.5", "2"), ("1", "1.000001"), ("0.000001", "3"), ("3", "40")]


def law(inverse_scale, reach):
    """The probabilities of -reach..reach."""
    p = (-decimal(inverse_scale)).exp()
    return [(1 - p) / (1 + p) * p ** abs(x) for x in range(-reach, reach + 1)]


def decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def chance(wide, narrow):
    return Decimal(stay(wide, narrow).leading(200)) / Decimal(2) ** 200


@pytest.mark.parametrize(("wide", "narrow"), [(Fraction(a), Fraction(b)) for a, b in [("0.5", "2"), ("1", "1.25")]])
def test_less_private_noise_plus_the_step_is_the_more_private_law_by_convolution(wide, narrow):
    with localcontext(prec=60):
        reach, tails = 30, 200
        w = chance(wide, narrow)
        less, more = law(narrow, tails), law(wide, tails)
        step = [(1 - w) * each for each in more]
        step[tails] += w
        for x in range(-reach, reach + 1):
            mixed = sum(less[tails + y] * step[tails + x - y] for y in range(-tails, tails + 1) if abs(x - y) <= tails)
            assert abs(mixed - more[tails + x]) < Decimal(10) ** -35


def test_the_convolution_can_tell_a_wrong_step():
    with localcontext(prec=40):
        wide, narrow, tails = Fraction(1, 2), Fraction(2), 100
        w = chance(wide, narrow) * Decimal("1.01")
        less, more = law(narrow, tails), law(wide, tails)
        at_zero = w * less[tails] + (1 - w) * sum(a * b for a, b in zip(less, more, strict=True))
        assert abs(at_zero - more[tails]) > Decimal("1e-4")


def sinh(x):
    return (x.exp() - (-x).exp()) / 2


@pytest.mark.parametrize(("wide", "narrow"), [(Fraction(a), Fraction(b)) for a, b in PAIRS])
def test_the_coin_is_the_square_of_a_quotient_of_hyperbolic_sines(wide, narrow):
    with localcontext(prec=160):
        value = (sinh(decimal(wide) / 2) / sinh(decimal(narrow) / 2)) ** 2
        assert stay(wide, narrow).leading(250) == int(value * Decimal(2) ** 250)
        assert stay(wide, narrow).leading(16) == int(value * 2**16)


def test_a_coin_needs_the_more_private_level_first():
    with pytest.raises(ValueError, match="more private"):
        stay(Fraction(2), Fraction(1))


def test_levels_come_most_private_first_and_cost_the_least_private():
    chain = ChainedLaplace((Fraction(1, 10), Fraction(1), Fraction(4)))
    assert chain.event() == Pure(Fraction(4))
    levels = chain.add_chain(np.zeros(20_000, dtype=np.int64), UNIT, SeededSource(1))
    spreads = [each.std() for each in levels]
    assert len(levels) == 3
    assert spreads[0] > 5 * spreads[1] > 5 * spreads[2]


def test_one_level_is_plain_laplace_noise():
    exact = np.arange(1000)
    chain = ChainedLaplace((Fraction(1),)).add_chain(exact, UNIT, SeededSource(2))
    assert np.array_equal(chain[0], DiscreteLaplace(Fraction(1)).add(exact, UNIT, SeededSource(2)))


def test_the_exact_numbers_do_not_choose_the_noise():
    """The same words give the same noise whatever the numbers are: noise is added, nothing else."""
    chain = ChainedLaplace((Fraction(1, 2), Fraction(1)))
    zeros = chain.add_chain(np.zeros(500, dtype=np.int64), UNIT, SeededSource(3))
    others = chain.add_chain(np.arange(500) * 7 - 90, UNIT, SeededSource(3))
    for a, b in zip(zeros, others, strict=True):
        assert np.array_equal(b - a, np.arange(500) * 7 - 90)


def test_a_step_leaves_its_input_alone():
    start = np.zeros(50, dtype=np.int64)
    add_more(start, wide=Fraction(1, 10), narrow=Fraction(1), source=SeededSource(4))
    assert not start.any()


def test_sensitivity_widens_every_level():
    wide = Sensitivity(l1=10, l2_squared=100, linf=10, coordinates=1)
    chain = ChainedLaplace((Fraction(1), Fraction(5)))
    for level, epsilon in zip(
        chain.add_chain(np.zeros(40_000, dtype=np.int64), wide, SeededSource(5)), (1, 5), strict=True
    ):
        assert level.std() == pytest.approx(2**0.5 * 10 / epsilon, rel=0.05)


@pytest.mark.parametrize(
    "epsilons", [(), (Fraction(1), Fraction(1)), (Fraction(2), Fraction(1)), (0.5,), (Fraction(0),), (Fraction(-1),)]
)
def test_wrong_levels_are_refused(epsilons):
    with pytest.raises(ParameterError, match="levels"):
        ChainedLaplace(epsilons)


def test_noise_beyond_its_limit_is_refused_before_any_is_drawn():
    with pytest.raises(ParameterError, match="epsilon"):
        ChainedLaplace((Fraction(1, 2**56), Fraction(1))).check(UNIT)


def test_floats_are_refused_by_their_type():
    with pytest.raises(TypeError, match="integers"):
        ChainedLaplace((Fraction(1),)).add_chain(np.zeros(3), UNIT, SeededSource(6))


@pytest.mark.parametrize(
    ("wide", "narrow"), [(0.1, 2), (1e-6, 2e-6), (3, 50), (0.999, 1), (1e-6, 1e4), (0.1, np.nextafter(0.1, 1))]
)
def test_the_chance_to_stay_has_the_digits_of_an_independent_formula(wide, narrow):
    """(sinh(s/2)/sinh(s'/2))², in decimal arithmetic: another formula than the one that is computed with."""
    small, large = (Fraction(str(float(each))) for each in (wide, narrow))
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 120, -(10**6), 10**6

        def sinh(s: Fraction) -> Decimal:
            half = Decimal(s.numerator) / Decimal(2 * s.denominator)
            return (half.exp() - (-half).exp()) / 2

        w = (sinh(small) / sinh(large)) ** 2
        assert stay(small, large).leading(100) == int(w * 2**100)

"""Amounts as integers: epsilon in units of 1e-9, delta in units of 1e-18.

A ledger adds integers, so that no sum ever depends on order or rounding. What is spent is rounded up and what may
be spent is rounded down; both are exact for amounts with at most nine (epsilon) or eighteen (delta) decimals.
"""

from __future__ import annotations

from fractions import Fraction

from covey.errors import ParameterError

EPSILON_UNITS = 10**9
DELTA_UNITS = 10**18

# The largest amount of either kind that fits the signed 64 bits of an SQLite integer.
LARGEST_UNITS = 2**63 - 1

Amount = float | int | str | Fraction


def units_up(value: Fraction, units: int, *, name: str) -> int:
    """`value` in whole units, rounded up: for what is spent."""
    return _fitting(-(-value.numerator * units // value.denominator), units, name=name)


def units_down(value: Fraction, units: int, *, name: str) -> int:
    """`value` in whole units, rounded down: for what may be spent."""
    return _fitting(value.numerator * units // value.denominator, units, name=name)


def _fitting(whole: int, units: int, *, name: str) -> int:
    if whole > LARGEST_UNITS:
        raise ParameterError(name, f"must be at most {LARGEST_UNITS // units}")
    return whole


def shown(value: Fraction | int) -> str:
    """A fraction as a short decimal for messages: exact for whole units, six digits otherwise."""
    if DELTA_UNITS % value.denominator:
        return f"{float(value):.6g}"
    whole, rest = divmod(value.numerator * (DELTA_UNITS // value.denominator), DELTA_UNITS)
    digits = f"{rest:018d}".rstrip("0")
    if whole == 0 and digits and len(digits) - len(digits.lstrip("0")) >= 5:
        return f"{float(value):.13g}"
    return f"{whole}.{digits}" if digits else str(whole)

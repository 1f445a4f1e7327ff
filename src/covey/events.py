"""What a release costs, and how far one person can move a statistic: frozen, public descriptions.

A query states its `Sensitivity`; a mechanism states its `Event`; the accountant adds events up. The three
folders that meet in these types (queries, noise, budget) never import one another.

Amounts are exact fractions. A float means the decimal number it prints as: 0.1 is 1/10, so that ten charges of
0.1 fill a budget of 1 exactly, and the noise is drawn for the same 1/10 that is charged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from covey.errors import ParameterError


def exactly(amount: float | int | str | Fraction) -> Fraction:
    """The exact fraction that an amount stands for: what its shortest decimal form says."""
    return amount if isinstance(amount, Fraction) else Fraction(str(amount))


def float_at_least(exact: Fraction) -> float:
    """The nearest float whose printed form is not below an amount: a certificate never says less than was spent."""
    number = float(exact)
    while exactly(number) < exact:
        number = math.nextafter(number, math.inf)
    return number


class Neighbours(StrEnum):
    """Which pairs of data sets must be hard to tell apart."""

    ADD_REMOVE = "add-remove"  # one has a person more than the other; the number of people is private
    REPLACE_ONE = "replace-one"  # one person's row differs; the number of rows is public

    @classmethod
    def parse(cls, value: str | Neighbours) -> Neighbours:
        try:
            return cls(value)
        except ValueError:
            options = " or ".join(repr(str(each)) for each in cls)
            raise ParameterError("neighbours", f"must be {options}") from None


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """How far one person can move a vector of integers, under one neighbour relation.

    l1, l2_squared: bounds on the sum of |changes| and of changes². linf: bound on the largest single change.
    coordinates: how many coordinates one person can change. monotone: whether all changes have the same sign
    (the exponential mechanism then needs half the noise). block: the vector is made of blocks of so many numbers, one
    after the other. l2_by_block: bound on the sum over blocks of the root of the sum of changes² in the block; what
    is not given is l1, which no block's root exceeds.
    """

    l1: int
    l2_squared: int
    linf: int
    coordinates: int
    monotone: bool = False
    block: int = 1
    l2_by_block: int = 0

    def __post_init__(self) -> None:
        if not self.l2_by_block:
            object.__setattr__(self, "l2_by_block", self.l1)
        if min(self.l1, self.l2_squared, self.linf, self.coordinates, self.block, self.l2_by_block) < 1:
            raise ValueError("a sensitivity is made of positive integers")


@dataclass(frozen=True)
class Pure:
    """An epsilon-DP release: Laplace noise, the exponential mechanism."""

    epsilon: Fraction


@dataclass(frozen=True)
class Approximate:
    """An (epsilon, delta)-DP release that has no finer description: a thresholded histogram."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise with standard deviation `multiplier` times the L2 sensitivity."""

    multiplier: Fraction


Event = Pure | Approximate | Gaussian

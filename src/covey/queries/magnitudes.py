"""How large numbers are, where no bounds are known: rows by signed powers of two. Proof: magnitudes.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.counts import count_into, one_unit

LEAST, MOST = -32, 64  # exponents: below 2^-32 a number is as good as 0, and none is told from 2^63 on
STEPS = MOST - LEAST


@dataclass(frozen=True)
class RawDomain(Domain):
    """Columns without bounds. Its lattice rows are the bits of their numbers, 32 and 32 of each column.

    A fixed, public, one-to-one image of every row, but for -0.0, which is 0.0, and for NaN, of which there is one.
    """

    @classmethod
    def of(cls, domain: Domain) -> RawDomain:
        """The same columns, without their bounds."""
        return cls((0.0,) * domain.dimension, (1.0,) * domain.dimension, domain.columns)


def raw_rows(values: NDArray[np.float64]) -> Rows:
    """The bits of (d, n) numbers, as (2·d, n). Behind the door only."""
    known = np.where(np.isnan(values), np.nan, values) + 0.0  # one NaN, and no -0.0
    words = np.ascontiguousarray(known).view(np.int64)
    low = (words & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    return np.stack([(words >> 32).astype(np.int32), low], axis=1).reshape(2 * values.shape[0], values.shape[1])


def raw_numbers(rows: Rows, column: int) -> NDArray[np.float64]:
    """One column's numbers, from their bits. Behind the door only."""
    high, low = rows[2 * column].astype(np.int64), rows[2 * column + 1].view(np.uint32).astype(np.int64)
    return np.asarray((high << 32 | low).view(np.float64))


@dataclass(frozen=True)
class Magnitudes:
    """The number of rows by the size of one column's number: from -2^63 and less, over about 0, to 2^63 and more.

    A number that is missing is counted nowhere; infinities are with the largest.
    """

    domain: RawDomain
    column: int
    name: str = "rows by magnitude"
    size: int = 2 * STEPS + 1

    def __post_init__(self) -> None:
        if not isinstance(self.domain, RawDomain) or not 0 <= self.column < self.domain.dimension:
            raise ParameterError("query", "needs rows without bounds, and one of their columns")

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:
        numbers = raw_numbers(rows, self.column)
        numbers = numbers[~np.isnan(numbers)]
        _, exponent = np.frexp(np.abs(numbers))
        step = np.where(np.isinf(numbers), STEPS, np.clip(exponent.astype(np.int64) - LEAST, 0, STEPS))
        count_into(out, STEPS + np.sign(numbers).astype(np.int64) * step)

    @staticmethod
    def ends(first: int, last: int) -> tuple[float, float]:
        """The range that some of the counts, from the first to the last, are of."""
        return _lower(first), -_lower(2 * STEPS - last)


def _lower(place: int) -> float:
    """Where the numbers of a count begin."""
    step = place - STEPS
    return 2.0 ** (LEAST + step - 1) if step > 0 else -(2.0 ** (LEAST - step))

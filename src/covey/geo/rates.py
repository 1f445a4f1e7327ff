"""What zones let through: public numbers, for whoever counts kept rows up again after the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.geo.areas import Regions


@dataclass(frozen=True, eq=False)
class ZoneRates:
    """Public regions, and the share of rows that was kept, by the number of their zone (`Regions.index`).

    Queries and engines see the regions alone: a rate divides nothing but noisy numbers (post/zones.py).
    together : how many rows one coin kept or not, at most: those of a person, by the strictest zone that any of them is
    in, which no row's place tells. None where each row had a coin of its own, by where it is.
    """

    regions: Regions
    rates: NDArray[np.float64]
    together: int | None = None

    @property
    def kinds(self) -> int:
        """How many numbers rows can have: one more than there are different epsilons of zones."""
        return len(self.rates)

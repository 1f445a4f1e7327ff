"""How many people have how many rows: what a cap on the rows of a person is chosen by. Proof: people.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.public import Domain, Neighbours
from covey.queries.base import Rows
from covey.queries.counts import one_unit


@dataclass(frozen=True)
class PeopleByRows:
    """The number of people with at most caps[0] rows, with more and at most caps[1], ..., and with more than the last.

    The unit is a person, with all rows: a person is in one count, whatever they are.
    """

    domain: Domain
    caps: tuple[int, ...]
    name: str = "people by their rows"

    def __post_init__(self) -> None:
        if not self.caps or list(self.caps) != sorted(set(self.caps)) or self.caps[0] < 1:
            raise ParameterError("caps", "must be different whole numbers from 1, ascending")

    @property
    def size(self) -> int:
        return len(self.caps) + 1

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return one_unit(neighbours)

    def tally(self, rows_of_each: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of people, given the exact number of rows of each. Behind the door only."""
        return np.bincount(np.searchsorted(np.array(self.caps), rows_of_each), minlength=self.size)

    def accumulate(self, rows: Rows, out: NDArray[np.int64]) -> None:  # noqa: ARG002
        raise ParameterError("query", "people are counted by an engine that knows who they are")

"""What was measured, as the rules look at it: one form of the algorithms, on some of the sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.bench.harness import Row

Figures = dict[str, list[Row]]
INTERACTIVE = ("lloyd", "gkm", "gkm-3k", "genetic")
LOW, HIGH = ("S1", "Gowalla", "TIGER", "Image"), ("Adult-num", "Lifesci")
PRINTED, COVEY = "as printed", "Covey's"
SUFFIX = ", printed"  # of the names of algorithms that were run in both forms


class Cells:
    """A number of an algorithm in a cell: of a set at an epsilon, or of d columns and k clusters."""

    def __init__(self, rows: Iterable[Row], *, axes: tuple[str, str], value: str) -> None:
        self.rows = {(row["algorithm"], *(row[axis] for axis in axes)): row for row in rows}
        self.value = value
        self.all = sorted({key[1:] for key in self.rows})

    def of(self, algorithm: str, cells: Iterable[Sequence[Any]], value: str = "") -> NDArray[np.float64]:
        return np.array([self.rows[algorithm, *cell][value or self.value] for cell in cells])

    def ratio(self, above: str, below: str, cells: Sequence[Sequence[Any]]) -> float:
        """The geometric mean of the quotient of two algorithms."""
        return float(np.exp(np.log(self.of(above, cells) / self.of(below, cells)).mean()))

    def third(self, algorithm: str, axis: int, *, upper: bool) -> float:
        """The mean over cells of the lower or the upper third of what was tried along an axis."""
        sizes = sorted({cell[axis] for cell in self.all})
        many = max(1, len(sizes) // 3)
        part = sizes[-many:] if upper else sizes[:many]
        return float(self.of(algorithm, [cell for cell in self.all if cell[axis] in part]).mean())


@dataclass(frozen=True)
class View:
    """All figures, for rules: the algorithms in one form, and only these sets."""

    figures: Figures
    forced: list[Row]
    form: str
    sets: tuple[str, ...]

    @cached_property
    def curves(self) -> Cells:
        rows = self.figures["figure1"] + self.figures["figure5"] + self.forced
        return Cells(of_form(rows, self.form), axes=("set", "epsilon"), value="nicv")

    @cached_property
    def heat(self) -> Cells:
        rows = self.figures["figure2"] + self.figures["figure6"]
        return Cells(of_form(rows, self.form), axes=("d", "k"), value="difference")

    @cached_property
    def epsilons(self) -> list[float]:
        return sorted({row["epsilon"] for row in self.figures["figure1"]})

    def cells(self, *, least: float = 0.0, most: float = np.inf) -> list[tuple[str, float]]:
        return [(name, epsilon) for name in self.sets for epsilon in self.epsilons if least <= epsilon <= most]

    def on(self, name: str, *, most: float = np.inf) -> list[tuple[str, float]]:
        return [cell for cell in self.cells(most=most) if cell[0] == name]


Rule = Callable[[View], tuple[str, bool]]  # what was measured, and whether that reproduces the statement


def of_form(rows: Iterable[Row], form: str) -> list[Row]:
    """Rows of one form under plain names: where an algorithm was run in both forms, those of this one."""
    rows = list(rows)
    both = {row["algorithm"].removesuffix(SUFFIX) for row in rows if row["algorithm"].endswith(SUFFIX)}
    found = []
    for row in rows:
        name = row["algorithm"].removesuffix(SUFFIX)
        if name not in both or (form == PRINTED) == row["algorithm"].endswith(SUFFIX):
            found.append({**row, "algorithm": name})
    return found


def share(fraction: float) -> str:
    return f"{100 * fraction:.0f}%"


def listed(cells: Sequence[tuple[str, float]]) -> str:
    by_set: dict[str, list[str]] = {}
    for name, epsilon in cells:
        by_set.setdefault(name, []).append(f"{epsilon:g}")
    return "; ".join(f"{name} {', '.join(values)}" for name, values in by_set.items()) or "no cell"

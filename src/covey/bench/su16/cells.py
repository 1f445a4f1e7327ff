"""Small helpers for judging claims: NICV by algorithm and cell, shares, and lists in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
Figures = dict[str, list[Row]]
INTERACTIVE = ("lloyd", "gkm", "gkm-3k", "genetic")
LOW, HIGH = ("S1", "Gowalla", "TIGER", "Image"), ("Adult-num", "Lifesci")


class Curves:
    """Figures 1 and 5 as a table: the NICV of an algorithm on a set at an epsilon."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.nicv = {(row["algorithm"], row["set"], row["epsilon"]): row["nicv"] for row in rows}
        self.refined = {(row["set"], row["epsilon"]): row["refined"] for row in rows if "refined" in row}
        self.epsilons = sorted({epsilon for _, _, epsilon in self.nicv})

    def cells(self, sets: Sequence[str], *, least: float = 0.0, most: float = np.inf) -> list[tuple[str, float]]:
        return [(name, epsilon) for name in sets for epsilon in self.epsilons if least <= epsilon <= most]

    def of(self, algorithm: str, cells: Sequence[tuple[Any, Any]]) -> NDArray[np.float64]:
        return np.array([self.nicv[algorithm, *cell] for cell in cells])

    def ratio(self, above: str, below: str, cells: Sequence[tuple[str, float]]) -> float:
        """The geometric mean of the quotient of two algorithms' NICV."""
        return float(np.exp(np.log(self.of(above, cells) / self.of(below, cells)).mean()))


Claim = Callable[[str, str, str, str, bool], None]


def lower_third(table: Curves, algorithm: str, cells: Sequence[tuple[int, int]], axis: int) -> float:
    """The mean over cells whose d (axis 0) or k (axis 1) is in the lower third of those tried."""
    sizes = sorted({cell[axis] for cell in cells})
    return _mean(table, algorithm, cells, axis, sizes[: max(1, len(sizes) // 3)])


def upper_third(table: Curves, algorithm: str, cells: Sequence[tuple[int, int]], axis: int) -> float:
    sizes = sorted({cell[axis] for cell in cells})
    return _mean(table, algorithm, cells, axis, sizes[-max(1, len(sizes) // 3) :])


def _mean(table: Curves, algorithm: str, cells: Sequence[tuple[int, int]], axis: int, sizes: Sequence[int]) -> float:
    return float(table.of(algorithm, [cell for cell in cells if cell[axis] in sizes]).mean())


def share(fraction: float) -> str:
    return f"{100 * fraction:.0f}%"


def listed(cells: Sequence[tuple[str, float]]) -> str:
    by_set: dict[str, list[str]] = {}
    for name, epsilon in cells:
        by_set.setdefault(name, []).append(f"{epsilon:g}")
    return "; ".join(f"{name} {', '.join(values)}" for name, values in by_set.items()) or "no cell"

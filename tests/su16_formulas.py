"""The error formulas of Su et al. 2016, which inequality (15) of `hybrid` is derived from.

The error of a centre is its expected squared distance from where it would be without noise, in a domain scaled to
[-r, r]^d, for k clusters of equal size (Su et al. 2016, §6). Numbers in brackets are the paper's equations.
"""

from __future__ import annotations

from covey.algorithms.hybrid import RHO


def lloyd_error(
    *, n: float, d: int, k: int, epsilon: float, rounds: int = 5, r: float = 1.0, rho: float = RHO
) -> float:
    """Equation (7): the error that one round of `lloyd` adds to a centre, with epsilon/rounds for the round."""
    return 2 * d * (1 + (2 * rho * r) ** 2) * (k * rounds * (d * r + 1) / (n * epsilon)) ** 2


def grid_cells(*, n: float, d: int, epsilon: float, theta: float = 10.0) -> float:
    """Equation (4): the number of cells of `grid`."""
    return (n * epsilon / theta) ** (2 * d / (2 + d))


def grid_variance(
    *, n: float, d: int, k: int, epsilon: float, cells: float | None = None, theta: float = 10.0, r: float = 1.0
) -> float:
    """Equations (9) and, with the cells of (4), (12): the error that noisy counts of `grid` add to a centre."""
    cells = grid_cells(n=n, d=d, epsilon=epsilon, theta=theta) if cells is None else cells
    return 2 * d * cells * r**2 * k ** ((d - 2) / d) / (3 * (n * epsilon) ** 2)


def grid_bias_bound(*, d: int, cells: float, r: float = 1.0) -> float:
    """Equation (10): the most that treating rows as if they were at their cell's middle adds to a centre's error."""
    return d * r**2 / cells ** (2 / d)


def hybrid_error(*, n: float, d: int, k: int, epsilon: float, r: float = 1.0, rho: float = RHO) -> float:
    """Equation (13): one round of `lloyd` with half of epsilon."""
    return lloyd_error(n=n, d=d, k=k, epsilon=epsilon / 2, rounds=1, r=r, rho=rho)

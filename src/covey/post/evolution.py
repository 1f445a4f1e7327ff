"""One step of a genetic search over sets of centres: crossover and mutation. Public randomness only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def next_generation(
    parents: NDArray[np.float64],
    *,
    size: int,
    spread: float,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """The parents themselves, and children of random pairs up to `size` sets of shape (k, d).

    A pair swaps the tails of its k·d numbers behind a random cut; then one random number of each child moves by a
    uniform step of at most half the domain's width times `spread`, which the caller lets fall from round to round.
    """
    many, k, d = parents.shape
    children = max(0, size - many)
    flat = parents.reshape(many, k * d)
    mother, father = rng.integers(many, size=(2, children))
    cut = rng.integers(1, k * d, size=children) if k * d > 1 else np.zeros(children, dtype=np.int64)
    born = np.where(np.arange(k * d) < cut[:, None], flat[mother], flat[father])
    place = rng.integers(k * d, size=children)
    step = (upper - lower)[place % d] / 2 * spread * rng.uniform(-1, 1, size=children)
    born[np.arange(children), place] += step
    together = np.concatenate([flat, born]).reshape(-1, k, d)
    return np.clip(together, lower, upper)

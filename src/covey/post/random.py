"""Public randomness: starts and projections that say nothing about any row."""

import numpy as np


def public_rng(seed: int | None) -> np.random.Generator:
    """A generator for public choices. None draws fresh entropy from the operating system.

    Never use it for noise: noise has its own source. NumPy's global generator is neither read nor changed.
    """
    return np.random.default_rng(seed)

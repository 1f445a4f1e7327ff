"""The operating system's randomness as one fixed stream, for tests that judge numbers of unseeded releases."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np


@contextmanager
def same_randomness(number: int) -> Iterator[None]:
    """All randomness of the operating system is one fixed stream: what still differs comes from elsewhere."""
    stream = itertools.count()
    fixed = np.random.default_rng

    def urandom(size: int) -> bytes:
        return fixed((number, next(stream))).bytes(size)

    with (
        patch("os.urandom", urandom),
        patch("covey.post.random.np.random.default_rng", lambda seed=None: fixed(seed or 5)),
    ):
        yield

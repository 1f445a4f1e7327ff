"""One nursery for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from children import Nursery, missing


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with Nursery() as process:
        yield process

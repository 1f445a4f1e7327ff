"""All targets, and how one is run: so many inputs, on a folder of its own, counted."""

from __future__ import annotations

import contextlib
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import command_targets
import data_targets
import document_targets
import numpy as np
from clean import OUTCOMES, Target
from hypothesis import HealthCheck, Phase, given, settings

from covey.noise.source import OsSource, SeededSource

TARGETS: dict[str, Target] = {**data_targets.TARGETS, **document_targets.TARGETS, **command_targets.TARGETS}
MOST_MEMORY = 1 << 20  # KiB by which no target may make the process grow


def share(name: str, inputs: int) -> int:
    """How many of all inputs are this target's."""
    return -(-inputs * TARGETS[name].weight // sum(each.weight for each in TARGETS.values()))


@contextlib.contextmanager
def same_noise() -> Iterator[None]:
    """The same noise and the same public numbers every time: fresh ones hold the digits of the canary now and then.

    Seven digits of one number do with odds of 10^-7; a run has some thousand numbers.
    """
    fresh, source = np.random.default_rng, SeededSource(0)
    with (
        mock.patch.object(OsSource, "words", source.words),
        mock.patch.object(np.random, "default_rng", lambda seed=None: fresh(0 if seed is None else seed)),
    ):
        yield


def run_target(name: str, inputs: int, *, repeatable: bool) -> dict[str, Any]:
    """Try so many inputs; the first that is not clean is made small and raised. Repeatable: the noise as well."""
    target, tried, slowest = TARGETS[name], 0, 0.0
    before, begin = peak(), time.monotonic()
    noise = same_noise if repeatable else contextlib.nullcontext
    with tempfile.TemporaryDirectory(prefix="covey-fuzz-") as folder:
        with noise():
            document_targets.good()  # whichever target comes first, the documents are the same
            OUTCOMES.clear()
            target.check(target.good, Path(folder))
        assert OUTCOMES["accepted"] > 0, f"{name}: a good input was refused"
        OUTCOMES.clear()

        @settings(
            max_examples=inputs,
            database=None,
            deadline=None,
            derandomize=repeatable,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        )
        @given(target.inputs)
        def attempt(value: Any) -> None:
            nonlocal tried, slowest
            tried += 1
            start = time.process_time()
            with noise():
                target.check(value, Path(folder))
            slowest = max(slowest, time.process_time() - start)

        attempt()
    grown = peak() - before
    assert grown < MOST_MEMORY, f"{name}: memory grew by {grown} KiB"
    return {
        "inputs": tried,
        **OUTCOMES,
        "slowest_seconds": round(slowest, 3),
        "grown_kib": grown,
        "seconds": round(time.monotonic() - begin, 1),
    }


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

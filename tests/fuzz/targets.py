"""All targets, and how one is run: so many inputs, on a folder of its own, counted."""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import command_targets
import data_targets
import document_targets
from clean import OUTCOMES, Target
from hypothesis import HealthCheck, Phase, given, settings

TARGETS: dict[str, Target] = {**data_targets.TARGETS, **document_targets.TARGETS, **command_targets.TARGETS}
MOST_MEMORY = 1 << 20  # KiB by which no target may make the process grow


def share(name: str, inputs: int) -> int:
    """How many of all inputs are this target's."""
    return -(-inputs * TARGETS[name].weight // sum(each.weight for each in TARGETS.values()))


def run_target(name: str, inputs: int, *, repeatable: bool) -> dict[str, Any]:
    """Try so many inputs; the first that is not clean is made small and raised."""
    target, tried, slowest = TARGETS[name], 0, 0.0
    before, begin = peak(), time.monotonic()
    OUTCOMES.clear()

    with tempfile.TemporaryDirectory(prefix="covey-fuzz-") as folder:

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

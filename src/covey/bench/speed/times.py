"""Times of work, and of processes of their own, for `covey bench speed`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter


def best_of(repeats: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def in_own_process(what: str, path: Path | None, n: int) -> dict[str, float]:
    """Seconds and peak memory of reading or fitting a file, or of fitting rows in memory."""
    command = [sys.executable, "-m", "covey.bench.speed.child", what, "" if path is None else str(path), str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def start_seconds(code: str) -> float:
    """A fresh interpreter that runs this."""
    return best_of(1, lambda: subprocess.run([sys.executable, "-c", code], check=True))


def import_seconds(repeats: int) -> float:
    """A fresh interpreter that imports the command line, less one that imports nothing."""

    times = [(start_seconds("import covey.cli.main"), start_seconds("pass")) for _ in range(repeats)]
    return min(own for own, _ in times) - min(nothing for _, nothing in times)

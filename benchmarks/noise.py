"""What exact noise costs: a million draws against numpy's float Laplace noise, timed in the same run.

    python benchmarks/noise.py          prints a table and writes benchmarks/results/noise.json

Goal: exact discrete Laplace noise from the operating system at most 10 times as slow as numpy's floats. The ratio is
what counts; the times depend on the machine.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from covey.noise import OsSource
from covey.noise.gaussian import discrete_gaussian
from covey.noise.laplace import discrete_laplace

DRAWS = 10**6
ROUNDS = 9
GOAL = 10.0
RESULTS = Path(__file__).parent / "results" / "noise.json"


def subjects() -> dict[str, Callable[[], object]]:
    """What is timed. The first is the yardstick, the second carries the goal."""
    floats, source = np.random.default_rng(0), OsSource()

    def laplace(scale: int) -> Callable[[], object]:
        return lambda: discrete_laplace(DRAWS, inverse_scale=Fraction(1, scale), source=source)

    def gaussian(sigma: int) -> Callable[[], object]:
        return lambda: discrete_gaussian(DRAWS, variance=Fraction(sigma**2), source=source)

    return {
        "numpy float Laplace": lambda: floats.laplace(size=DRAWS),
        "discrete Laplace, epsilon 1": laplace(1),
        "discrete Laplace, scale 2^20": laplace(2**20),
        "discrete Laplace, scale 2^40": laplace(2**40),
        "numpy float Gaussian": lambda: floats.normal(size=DRAWS),
        "discrete Gaussian, sigma 1": gaussian(1),
        "discrete Gaussian, sigma 2^20": gaussian(2**20),
        "discrete Gaussian, sigma 2^40": gaussian(2**40),
    }


def best_times() -> dict[str, float]:
    """The best time of each subject in seconds. Rounds go through all of them, so that a slow spell hits all."""
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, run in subjects().items():
            start = time.perf_counter()
            run()
            best[name] = min(best.get(name, float("inf")), time.perf_counter() - start)
    return best


def main() -> None:
    best = best_times()
    yardstick, subject = list(best)[:2]
    rows = {
        name: {"nanoseconds_per_draw": round(t / DRAWS * 1e9, 1), "relative_to_numpy": round(t / best[yardstick], 2)}
        for name, t in best.items()
    }
    ratio = best[subject] / best[yardstick]
    document = {
        "draws": DRAWS,
        "best_of": ROUNDS,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "system": platform.system(),
        "goal": f"{subject}: at most {GOAL:g} times {yardstick}",
        "reached": ratio <= GOAL,
        "times": rows,
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    draft = RESULTS.with_suffix(".tmp")
    draft.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    os.replace(draft, RESULTS)

    for name, row in rows.items():
        print(f"{name:32} {row['nanoseconds_per_draw']:8.1f} ns a draw {row['relative_to_numpy']:7.2f} x numpy")
    print(f"goal {'reached' if ratio <= GOAL else 'MISSED'}: {ratio:.2f} <= {GOAL:g}")


if __name__ == "__main__":
    main()

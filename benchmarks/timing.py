"""Can a fit's running time tell neighbouring data sets apart? Times of pairs, interleaved, and what an observer gains.

For each pair the two data sets are fitted alternately, so that whatever else the machine does falls on both alike. An
observer who may choose a threshold on the running time (on one half of the runs) is scored on the other half: the
advantage is the share of right guesses, doubled, minus one: 0 is blind, 1 is certain. The clock is the processor time
of the fit alone, in a process that is warm: an observer of the clock on the wall, or of whole commands, sees less.

    python benchmarks/timing.py --runs 300 --out benchmarks/results/timing.json
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from covey.fit.fit import fit

ROWS = 2_000


def crowd(count: int = ROWS) -> np.ndarray:
    return np.clip(np.random.default_rng(8).normal(0, 0.2, (count, 2)), -1, 1)


def pairs() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Neighbouring data sets; the last two are not neighbours: they show what the measurement can see."""
    rows = crowd()
    corner, missing = np.array([[1.0, 1.0]]), np.array([[np.nan, np.nan]])
    return {
        "none against one": (np.empty((0, 2)), rows[:1]),
        "one outlier more": (rows, np.vstack([rows, corner])),
        "one missing value more": (rows, np.vstack([rows, missing])),
        "the same set twice": (rows, rows.copy()),
        "ten times as many rows (no neighbours)": (rows, crowd(10 * ROWS)),
        "a hundred times as many rows (no neighbours)": (rows, crowd(100 * ROWS)),
    }


def timed(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(first: np.ndarray, second: np.ndarray, *, runs: int, **options: Any) -> np.ndarray:
    """Seconds of either set, (2, runs): in turn, the one that begins being drawn by lot."""
    lot = np.random.default_rng(1)
    seconds = np.empty((2, runs))
    for each in (first, second):
        fit(each, **options)
    for run in range(runs):
        for which in lot.permutation(2):
            seconds[which, run] = timed(lambda data=(first, second)[which]: fit(data, **options))
    return seconds


def advantage(seconds: np.ndarray) -> float:
    """What the best threshold of one half of the runs gains on the other."""
    half = seconds.shape[1] // 2
    learn, use = seconds[:, :half], seconds[:, half:]
    cuts = np.quantile(learn, np.linspace(0.02, 0.98, 97))
    gains = [float((learn[1] > cut).mean() - (learn[0] > cut).mean()) for cut in cuts]
    best = int(np.argmax(np.abs(gains)))
    return float(np.sign(gains[best]) * ((use[1] > cuts[best]).mean() - (use[0] > cuts[best]).mean()))


def summary(seconds: np.ndarray) -> dict[str, float]:
    runs = seconds.shape[1]
    middle = np.median(seconds, axis=1)
    return {
        "median_ms": round(1000 * float(middle[0]), 3),
        "median_ms_neighbour": round(1000 * float(middle[1]), 3),
        "difference_percent": round(100 * float(middle[1] / middle[0] - 1), 2),
        "rank_test_p": float(f"{mannwhitneyu(seconds[0], seconds[1]).pvalue:.2g}"),
        "advantage": round(advantage(seconds), 3),
        "advantage_by_chance": round(2 / math.sqrt(runs), 3),  # two standard deviations of a blind observer's
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--algorithms", nargs="+", default=["lloyd", "grid", "auto"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/timing.json"))
    options = parser.parse_args()
    result: dict[str, Any] = {"runs": options.runs, "rows": ROWS, "clock": "processor time of the fit", "pairs": {}}
    for algorithm in options.algorithms:
        for name, (first, second) in pairs().items():
            seconds = measure(first, second, runs=options.runs, k=3, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm)
            result["pairs"][f"{algorithm}: {name}"] = summary(seconds)
            print(algorithm, name, summary(seconds), flush=True)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

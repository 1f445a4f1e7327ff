"""How long a private fit takes next to scikit-learn's non-private k-means, in the same run on the same machine.

    python benchmarks/speed.py            writes benchmarks/results/speed.json

10^6 made-up rows with 2 columns in 5 clusters, in memory; k = 5, epsilon = 1; best of 3, after one warm-up on few rows.
Only ratios within one run mean something: machines differ.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans as PlainKMeans

import covey
from covey.private.memory import cores
from covey.storage import write_whole

ROWS, COLUMNS, K, EPSILON, REPEATS = 10**6, 2, 5, 1.0, 3
ALGORITHMS = ("hybrid", "grid", "lloyd")
GOAL = 2.0  # hybrid at most this many times as long as scikit-learn
RESULTS = Path(__file__).parent / "results" / "speed.json"


def made_up_rows(rows: int) -> NDArray[np.float64]:
    """Five round clusters in [-1, 1]²."""
    rng = np.random.default_rng(2016)
    middles = np.array([[-0.6, -0.6], [-0.5, 0.5], [0.0, 0.0], [0.6, -0.4], [0.5, 0.7]])
    return middles[rng.integers(K, size=rows)] + rng.normal(scale=0.08, size=(rows, COLUMNS))


def best_of(repeats: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def private_fit(rows: NDArray[np.float64], algorithm: str) -> object:
    return covey.KMeans(K, epsilon=EPSILON, bounds=(-1, 1), algorithm=algorithm).fit(rows)


def plain_fit(rows: NDArray[np.float64]) -> object:
    return PlainKMeans(K, n_init=1).fit(rows)


def import_seconds() -> float:
    """A fresh interpreter that imports the command line, less one that imports nothing."""

    def start(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    return best_of(10, lambda: start("import covey.cli")) - best_of(10, lambda: start("pass"))


def main() -> None:
    load = os.getloadavg()[0]
    rows, few = made_up_rows(ROWS), made_up_rows(2000)
    work: dict[str, Callable[[NDArray[np.float64]], object]] = {"scikit-learn KMeans(n_init=1)": plain_fit}
    work |= {name: lambda data, name=name: private_fit(data, name) for name in ALGORITHMS}
    seconds = {}
    for name, run in work.items():
        run(few)
        seconds[name] = best_of(REPEATS, lambda run=run: run(rows))
    peer = seconds["scikit-learn KMeans(n_init=1)"]
    cli = import_seconds()
    results = {
        "what": "seconds of one fit, best of 3",
        "rows": ROWS,
        "columns": COLUMNS,
        "k": K,
        "epsilon": EPSILON,
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "times_scikit_learn": {name: round(seconds[name] / peer, 2) for name in ALGORITHMS},
        "goal": {"hybrid_times_scikit_learn": GOAL, "met": seconds["hybrid"] <= GOAL * peer},
        "import_covey_cli_seconds": round(cli, 4),
        "cores": cores(),
        "cpus": os.cpu_count(),
        "load_average_before": round(load, 2),  # other work on the machine makes all times longer
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("covey", "numpy", "scikit-learn", "pyarrow", "click")},
    }
    write_whole(RESULTS, (json.dumps(results, indent=2) + "\n").encode())
    for name, value in seconds.items():
        print(f"{name:32} {value:8.3f} s   {value / peer:6.2f} x scikit-learn")
    print(f"{'import covey.cli':32} {cli:8.3f} s")
    print(f"goal: hybrid at most {GOAL:g} x scikit-learn: {'met' if results['goal']['met'] else 'MISSED'}")
    print(f"wrote {RESULTS}")


if __name__ == "__main__":
    main()

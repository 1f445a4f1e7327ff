"""Where the time of a fit goes: processor seconds of `auto`, k = 5, on 10^6 and 10^7 rows x 2, by part, on one core.

    python benchmarks/parts.py --label now          prints them and writes benchmarks/results/parts.json

Whole fits of other kinds, and imports, are measured too; pictures of digits only where COVEY_DATA says they are.

With PYTHONPATH set to the sources of an older version and another label, it measures that one; what the file holds
under other labels is kept. Processor seconds, unlike those of a clock, do not count what else runs on the machine.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

import covey
from covey.bench import sets
from covey.bench.speed.run import clusters, pieces, private_fit
from covey.errors import DataError
from covey.files import write_whole

RESULTS = Path(__file__).parent / "results" / "parts.json"
PARTS = {  # by the functions that do the work, whatever version they are of
    "reading rows to the lattice": [("memory.py", "_load")],
    "the tree": [("trees.py", "grow"), ("tree.py", "boxes")],
    "the search for centres": [("leaves.py", "without_outliers"), ("leaves.py", "cluster"), ("leaves.py", "recentre")],
    "errors: sizes": [("sizes.py", "cluster_sizes")],
    "errors: where rows are in boxes": [("mixture.py", "fit_mixture"), ("mixture.py", "likely_places")],
    "errors: costs and distances": [
        *(("costs.py", each) for each in ("cost_interval", "intervals", "squares_paid", "squares_in_boxes")),
        ("ways.py", "distance_of"),
    ],
}


def measured(n: int) -> dict[str, float]:
    """Seconds of each part, the least of three fits, and of all of them together."""
    rows = clusters(n)

    def fit(some: Any) -> object:
        return covey.KMeans(5, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(some)

    fit(rows[:2000])
    found = []
    for _ in range(3):
        profile = cProfile.Profile(timer=time.process_time)
        profile.runcall(fit, rows)
        stats = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
        own = {(Path(where[0]).name, where[2]): numbers[3] for where, numbers in stats}
        parts = {name: sum(own.get(each, 0.0) for each in functions) for name, functions in PARTS.items()}
        whole = own["clusterers.py", "fit"]
        found.append(parts | {"all else": whole - sum(parts.values()), "all": whole})
    return {name: round(min(each[name] for each in found), 4) for name in found[0]}


def whole() -> dict[str, float]:
    """Seconds of whole fits, the least of three, and of imports in new processes, the least of five."""
    million, many = clusters(10**6), clusters(2 * 10**6)
    person = np.random.default_rng(1).integers(len(many) // 5, size=len(many))
    fits: dict[str, Callable[[], object]] = {
        "KMedian, 1,000,000 x 2": lambda: private_fit(million, "auto", size=10**6, estimator=covey.KMedian),
        "rows, 2,000,000 x 2": lambda: private_fit(many, "auto", size=len(many)),
        "people, m = 1, 2,000,000 rows x 2": lambda: private_fit(many, "auto", size=len(many), person=person),
    }
    try:
        digits = sets.load(sets.utility_set("mnist_train"), sets.data_folder(None), rows=None)
        fits["mnist, 60,000 x 784, k = 10"] = lambda: private_fit(digits, "auto", size=len(digits), k=10)
    except DataError as error:
        click.echo(f"mnist is skipped: {error}")
    with tempfile.TemporaryDirectory() as folder:
        path, size = Path(folder) / "rows.parquet", 2 * 10**7
        sets.write_parquet(path, pieces(size))
        fits["reading Parquet, 20,000,000 x 2"] = lambda: sets.only_read(path)
        for name in ("auto", "grid"):
            fits[f"{name} from Parquet, 20,000,000 x 2"] = partial(private_fit, str(path), name, size=size)
        found = {name: min(_spent(resource.RUSAGE_SELF, fit) for _ in range(3)) for name, fit in fits.items()}
    codes = {"import of KMeans": "import covey; covey.KMeans"}
    codes["import of scikit-learn's"] = "from sklearn.cluster import KMeans"
    for name, code in codes.items():
        start = [sys.executable, "-c", code]
        found[name] = min(
            _spent(resource.RUSAGE_CHILDREN, lambda start=start: subprocess.run(start, check=True)) for _ in range(5)
        )
    return {name: round(seconds, 4) for name, seconds in found.items()}


def _spent(whose: int, work: Callable[[], object]) -> float:
    before = resource.getrusage(whose)
    work()
    after = resource.getrusage(whose)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@click.command()
@click.option("--label", required=True, help="What this version is called in the file.")
def main(label: str) -> None:
    """Measure and write."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core: all work is in one thread, which is profiled
    kept = (
        json.loads(RESULTS.read_text()) if RESULTS.exists() else {"what": "processor seconds of a fit", "versions": {}}
    )
    kept["versions"][label] = {f"{n:,}": measured(n) for n in (10**6, 10**7)}
    kept.setdefault("whole", {})[label] = whole()
    write_whole(RESULTS, (json.dumps(kept, indent=1) + "\n").encode())
    click.echo(json.dumps([kept[each][label] for each in ("versions", "whole")], indent=1))


if __name__ == "__main__":
    main()

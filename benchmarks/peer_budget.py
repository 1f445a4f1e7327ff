"""What a fit of diffprivlib hands out of its epsilon, by its own mechanisms: results/others/budget.json.

    pip install covey diffprivlib==0.6.6 scikit-learn==1.8.0
    python benchmarks/peer_budget.py

Every mechanism that a fit makes is told its epsilon. With one centre all of them meet the same rows, so that what they
were told adds up (basic composition, the rule by which diffprivlib splits its epsilon). Nothing is estimated here.
"""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from diffprivlib.models import k_means  # type: ignore[import-not-found, unused-ignore]

from covey.bench.peers.ibm import kmeans
from covey.files import write_whole

COLUMNS = (1, 2, 4, 5, 6, 10, 20, 50, 100)
ROWS, EPSILON = 50, 1.0
OUT = Path(__file__).parent / "results" / "others" / "budget.json"


def told(columns: int) -> dict[str, list[float]]:
    """The epsilon of every mechanism of one fit, by the name of its class."""
    found: dict[str, list[float]] = {}

    def noted(kind: Any) -> Any:
        def make(*, epsilon: float, **more: Any) -> Any:
            found.setdefault(kind.__name__, []).append(float(epsilon))
            return kind(epsilon=epsilon, **more)

        return make

    kinds = (k_means.GeometricFolded, k_means.LaplaceBoundedDomain)
    with mock.patch.multiple(k_means, **{kind.__name__: noted(kind) for kind in kinds}):
        edge = np.ones(columns)
        kmeans(np.zeros((ROWS, columns)), k=1, epsilon=EPSILON, delta=None, bounds=(-edge, edge))
    return found


def row(columns: int) -> dict[str, Any]:
    found = told(columns)
    counts, sums = found["GeometricFolded"], found["LaplaceBoundedDomain"]
    return {
        "columns": columns,
        "rounds": len(counts),
        "count": counts[0],
        "column": sums[0],
        "spent": sum(counts) + sum(sums),
    }


if __name__ == "__main__":
    versions = {name: metadata.version(name) for name in ("diffprivlib", "scikit-learn", "numpy")}
    document = {"what": "epsilon told to the mechanisms of one fit", "claimed": EPSILON, "packages": versions}
    document["rows"] = [row(columns) for columns in COLUMNS]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    write_whole(OUT, (json.dumps(document, indent=1) + "\n").encode())

"""KMeans of diffprivlib (IBM): as an outside system, and as a process of an environment of its own, without Covey.

`kmeans` is what `--system covey.bench.peers.ibm:kmeans` runs where diffprivlib is installed beside Covey. Run as a
script, the file fits what is asked for on stdin: a line of JSON, followed by the rows (float64) if it gives their
shape; the answer is a line of JSON. A script's folder comes first on its path, so no file here may be called
diffprivlib.py.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np


def kmeans(X: Any, k: int, epsilon: float, delta: float | None, bounds: Any) -> Any:  # noqa: ARG001
    """The centres of diffprivlib's KMeans, which promises pure epsilon and takes no delta."""
    from diffprivlib.models import KMeans  # type: ignore[import-not-found, unused-ignore]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KMeans(n_clusters=k, epsilon=epsilon, bounds=bounds).fit(X).cluster_centers_


def main() -> None:
    rows = np.empty((0, 0))
    while line := sys.stdin.buffer.readline():
        asked = json.loads(line)
        if asked["shape"] is not None:
            n, d = asked["shape"]
            rows = np.frombuffer(sys.stdin.buffer.read(n * d * 8), dtype=np.float64).reshape(n, d)
        started, cpu = time.perf_counter(), time.process_time()
        centres = kmeans(rows, asked["k"], asked["epsilon"], None, (-1.0, 1.0))
        times = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
        sys.stdout.write(json.dumps({"centres": centres.tolist(), **times}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

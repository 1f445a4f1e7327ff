"""Run by the interpreter of diffprivlib's environment, which has no Covey: fits what is asked for on stdin.

A request is a line of JSON, followed by the rows (float64) if it gives their shape; the answer is a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np


def main() -> None:
    from diffprivlib.models import KMeans  # type: ignore[import-not-found, unused-ignore]

    warnings.simplefilter("ignore")
    rows = np.empty((0, 0))
    while line := sys.stdin.buffer.readline():
        asked = json.loads(line)
        if asked["shape"] is not None:
            n, d = asked["shape"]
            rows = np.frombuffer(sys.stdin.buffer.read(n * d * 8), dtype=np.float64).reshape(n, d)
        started, cpu = time.perf_counter(), time.process_time()
        model = KMeans(n_clusters=asked["k"], epsilon=asked["epsilon"], bounds=(-1.0, 1.0)).fit(rows)
        times = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
        answer = {"centres": model.cluster_centers_.tolist(), **times}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

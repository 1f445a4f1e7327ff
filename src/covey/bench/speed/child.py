"""A process of its own for `covey bench speed`: reads or fits a file, or fits rows; prints seconds and peak memory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from covey.bench import sets


def peak_gib() -> float:
    """The most memory that this process ever held. Linux tells it of this program alone; elsewhere ask resource."""
    status = Path("/proc/self/status")
    if status.exists():
        found = [text for text in status.read_text().splitlines() if text.startswith("VmHWM:")]
        if found:
            return int(found[0].split()[1]) / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def main(what: str, path: str, size: str) -> None:
    from covey.bench.speed.run import clusters, private_fit

    if what != "read":
        private_fit(clusters(2000), what, size=2000)  # imports what a fit needs
    rows = path or clusters(int(size))
    start = perf_counter()
    if what == "read":
        sets.only_read(Path(path))
    else:
        private_fit(rows, what, size=int(size))
    seconds = perf_counter() - start
    sys.stdout.write(json.dumps({"seconds": seconds, "peak_gib": peak_gib()}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The full size of the faults, for `make audit`: python tests/faults/full.py --kills 500 --out docs/audit/faults.json

500 `kill -9` at random moments; a kill before, after and within every single call to the disk; a full and a broken
disk at every single call. An invariant that does not hold ends the run with the assertion that failed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from children import Nursery
from deeds import DEEDS, Tally, errors_at_calls, kills_at_calls, kills_at_random_moments

import covey


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="at random moments")
    parser.add_argument("--step", type=int, default=1, help="1: a kill at every call to the disk")
    parser.add_argument("--error-step", type=int, default=1, help="1: an error at every call to the disk")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    parts = {
        "kills at random moments": lambda *where: kills_at_random_moments(*where, count=options.kills, seed=7),
        "kills at calls to the disk": lambda *where: kills_at_calls(*where, step=options.step),
        "full and broken disk at calls": lambda *where: errors_at_calls(*where, step=options.error_step),
    }
    result = {
        "covey": covey.__version__,
        "deeds": list(DEEDS),
        "every_nth_call": {"kills": options.step, "errors": options.error_step},
        "found": {
            "releases_without_a_charge": 0,
            "rows_read_without_a_charge": 0,
            "corrupt_files": 0,
            "ledgers_that_do_not_verify": 0,
            "keys_with_two_releases": 0,
        },
        "meaning": "any of these ends the run with an assertion: a part that is listed found none",
        "parts": {},
    }
    with tempfile.TemporaryDirectory(prefix="covey-faults-") as folder, Nursery() as nursery:
        for name, part in parts.items():
            begin = time.monotonic()
            tally: Tally = part(nursery, Path(folder) / name.replace(" ", "-"))
            result["parts"][name] = {**asdict(tally), "seconds": round(time.monotonic() - begin, 1)}
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(result, indent=2) + "\n")  # what is done is kept, should the rest fail


if __name__ == "__main__":
    main()

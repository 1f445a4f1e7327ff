"""The full size of the faults, for `make audit`: python tests/faults/full.py --kills 500 --out docs/audit/faults.json

500 `kill -9` at random moments; a kill before, after and within every single call to the disk; a full and a broken
disk at every single call. What must hold is checked after each (`check` and `check_again` in deeds.py): the ledger is
whole, no row was read and no release made without a charge, no file is half-written, one key gives one release. What
does not hold is listed under "violations", and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

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
    parts: dict[str, Callable[..., Tally]] = {
        "kills at random moments": partial(kills_at_random_moments, count=options.kills, seed=time.time_ns()),
        "kills at calls to the disk": partial(kills_at_calls, step=options.step),
        "full and broken disk at calls": partial(errors_at_calls, step=options.error_step),
    }
    asked = {"kills": options.kills, "every_nth_call_kills": options.step, "every_nth_call_errors": options.error_step}
    result: dict[str, Any] = {"covey": covey.__version__, "deeds": list(DEEDS), "asked": asked, "parts": {}}
    violations = 0
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="covey-faults-") as folder, Nursery() as nursery:
        for name, part in parts.items():
            begin = time.monotonic()

            def note(tally: Tally, *, done: bool = False, name: str = name, begin: float = begin) -> None:
                seconds = round(time.monotonic() - begin, 1)
                result["parts"][name] = {"done": done, **asdict(tally), "seconds": seconds}
                options.out.write_text(json.dumps(result, indent=2) + "\n")  # what is done is kept

            tally = part(nursery, Path(folder) / name.replace(" ", "-"), note=note)
            note(tally, done=True)
            violations += len(tally.violations)
    sys.exit(violations > 0)


if __name__ == "__main__":
    main()

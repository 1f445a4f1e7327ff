"""The full size of the fuzzing, for `make audit`: python tests/fuzz/full.py --inputs 100000 --out docs/audit/fuzz.json

Fresh inputs every time, each target in a process of its own with bounded memory, so that a crash of a library beneath
is seen as well. Ends with exit code 1 if anything was not clean; the smallest input found is printed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for canary.py

from targets import TARGETS, run_target, share

import covey

MOST_BYTES = 6 << 30  # of address space


def one(name: str, inputs: int, pipe: object) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    pipe.send(run_target(name, inputs, repeatable=False))  # type: ignore[attr-defined]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--only", help="one target")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    result: dict[str, object] = {"covey": covey.__version__, "asked": options.inputs, "inputs": 0, "targets": {}}
    failed = []
    for name in TARGETS if options.only is None else [options.only]:
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=one, args=(name, share(name, options.inputs), there))
        process.start()
        there.close()
        try:
            found = here.recv()
        except EOFError:  # the target's process ended without a result: an input was not clean
            found = None
        process.join()
        if found is None or process.exitcode:
            found = {"failed": True, "exit_code": process.exitcode}
            failed.append(name)
        result["targets"][name] = found  # type: ignore[index]
        result["inputs"] += found.get("inputs", 0)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({**result, "not_clean": failed}, indent=2) + "\n")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

"""Systematic mutants: at full size for `make audit`, or of one file in a minute.

    python tests/audit/full.py --many 630 --seed 24 --out docs/audit/systematic.json
    python tests/audit/full.py --file noise/laplace.py --many 40

The map from lines to tests and what became of each mutant are kept in build/systematic: an interrupted run goes on
where it was. `--again` hunts survivors once more. After the sources or tests have changed, delete that folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from systematic.hunt import hunt
from systematic.making import Made, mutants_of, pool, sample
from systematic.reach import read

import covey

ROOT = Path(__file__).parents[2]
STORE = ROOT / "build" / "systematic"
TESTS = ("unit", "property", "statistical", "engines", "audit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", type=int, default=630, help="mutants in the sample")
    parser.add_argument("--seed", type=int, default=24, help="of the sample")
    parser.add_argument("--seconds", type=float, default=20, help="of tests for a mutant, at most about")
    parser.add_argument("--file", help="below src/covey: mutants of this file only, with the tests that are near")
    parser.add_argument("--again", action="store_true", help="hunt survivors once more")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    if options.file:
        with tempfile.TemporaryDirectory() as folder:
            run(list(mutants_of(options.file)), tests_near(options.file), Path(folder), options)
    else:
        STORE.mkdir(parents=True, exist_ok=True)
        run(pool(), [f"tests/{name}" for name in TESTS], STORE, options)


def run(made: list[Made], tests: list[str], folder: Path, options: argparse.Namespace) -> None:
    """Make the map, hunt a sample, and tell what survived."""
    reached, results = folder / "map.jsonl", folder / "results.jsonl"
    subprocess.run([sys.executable, ROOT / "tests/audit/systematic/reach.py", reached, *tests], check=True, cwd=ROOT)
    chosen = sample(made, options.many, options.seed)
    done = {line["id"]: line for line in read(results)}
    left = [each for each in chosen if each.id not in done or (options.again and done[each.id]["outcome"] != "killed")]

    def note(result: dict[str, Any]) -> None:
        done[result["id"]] = result
        with results.open("a") as lines:
            lines.write(json.dumps(result) + "\n")
        if result["outcome"] != "killed":
            where = f"{result['where']}, line {result['line']} ({result['id']})"
            sys.stderr.write(f"{result['outcome']}: {where}: {result['before']} becomes {result['after']}\n")

    hunt(left, read(reached), note, seconds=options.seconds)
    found = [{**done[each.id], "line": each.line} for each in chosen if done[each.id]["outcome"] != "unfit"]
    sys.stderr.write(f"{dict(Counter(each['outcome'] for each in found))} of {len(made):,}\n")
    if options.out:
        write(options.out, found, pool=len(made), seed=options.seed)


def write(out: Path, found: list[dict[str, Any]], **facts: int) -> None:
    """The results, a line for each mutant; of those that were noticed the code itself says what they were."""
    told = [each if each["outcome"] != "killed" else {**each, "before": None, "after": None} for each in found]
    rows = ",\n".join(json.dumps({name: value for name, value in each.items() if value is not None}) for each in told)
    facts_ = json.dumps({"covey": covey.__version__, **facts})[:-1]
    out.write_text(f'{facts_},\n"mutants": [\n{rows}\n]}}\n')


def tests_near(file: str) -> list[str]:
    """The tests of a file's folder, and those that import it."""
    module = "covey." + file.removesuffix(".py").replace("/", ".")
    found = {path for path in (ROOT / "tests").rglob("test_*.py") if f"{module} " in path.read_text(encoding="utf-8")}
    found |= {*(ROOT / "tests" / "unit" / Path(file).parts[0]).rglob("test_*.py")}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


if __name__ == "__main__":
    main()

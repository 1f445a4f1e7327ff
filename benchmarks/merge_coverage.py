"""Cells of a partial run of `covey bench coverage` in place of those that are kept.

    covey bench coverage --methods levels --fits 60 --reruns 10 --out /tmp/levels
    python benchmarks/merge_coverage.py /tmp/levels      # into benchmarks/results/coverage
    python benchmarks/merge_coverage.py /tmp/levels --reruns      # only what reruns tell, of a run with few fits

Every row that is taken over says by `code` which sources it is of; rows without one are older. Bars are judged again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from covey.bench.coverage.bars import judge
from covey.bench.coverage.run import PAPER
from covey.files import write_whole

KEPT = Path(__file__).parent / "results" / "coverage"
OF_RERUNS = ("places", "excess")
PLACE = ("set", "method", "epsilon", "what", "centres", "objective")


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Which statement of which cell a row is about."""
    return tuple(row.get(name) for name in PLACE)


def merged(kept: list[dict[str, Any]], measured: list[dict[str, Any]], code: str) -> list[dict[str, Any]]:
    """The kept rows, in their order, with measured ones in their places and new ones at the end."""
    rows = {place(row): row for row in kept}
    # A time that was not taken, such as of reruns in a run without any, replaces none.
    rows |= {place(row): {**row, "code": code} for row in measured if row.get("seconds", 0) is not None}
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(description="Take over the cells of a partial run of covey bench coverage.")
    parser.add_argument("folder", type=Path, help="where the partial run wrote its results.json")
    parser.add_argument(
        "--reruns", action="store_true", help="take over places, the excess and the time of reruns only"
    )
    chosen = parser.parse_args()
    document, partial = (json.loads((each / "results.json").read_text()) for each in (KEPT, chosen.folder))
    figures, code = document["figures"], partial["settings"]["code"]
    for name, rows in partial["figures"].items():
        taken = [row for row in rows if not chosen.reruns or name in OF_RERUNS or row.get("what") == "reruns"]
        figures[name] = merged(figures.get(name, []), taken, code)
    document["bars"] = judge(figures)
    for name, text in PAPER.texts(document).items():
        write_whole(KEPT / name, text.encode())
    for name, png in PAPER.figures(document):
        write_whole(KEPT / f"{name}.png", png)
    print((KEPT / "bars.md").read_text())


if __name__ == "__main__":
    main()

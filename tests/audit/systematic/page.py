"""docs/audit/systematic.md, made from the results. To write it anew: python tests/audit/systematic/page.py"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "docs" / "audit" / "systematic.md"
RESULTS = PAGE.with_suffix(".json")
ASSERTED = ("AssertionError", "Failed")
HEAD = """# Bugs that nobody planted

Mutants made from the syntax tree of the code that privacy rests on: `private`, `noise`, `queries`, `budget`, `fit`,
`algorithms` and the studio's guard. Of {pool:,} that can be made, {many:,} were drawn (seed {seed}), of each of nine
kinds the same number, and each met the tests that run its lines. **{killed:,} were noticed,
{rate:.1%}**{first}.
All others were read: below is why each of them is no bug. What is made, how tests are chosen and what is left out is in
[decision 0026](../decisions/0026-systematic-mutants.md); `tests/audit/test_systematic.py` repeats a few on every run of
`make test`, `make audit` all of them. This page is made from `systematic.json`.
"""
FIRST = "; before the tests below were written, {} by five seconds of tests each"


def page() -> str:
    """The whole page."""
    from systematic.explained import ADDED, EXPLAINED

    found = json.loads(RESULTS.read_text())
    mutants = found["mutants"]
    killed = sum(each["outcome"] == "killed" for each in mutants)
    first = "" if "at_first" not in found else FIRST.format(found["at_first"])
    facts = {"many": len(mutants), "killed": killed, "rate": killed / len(mutants), "first": first}
    lines = [HEAD.format(pool=found["pool"], seed=found["seed"], **facts)]
    lines += _table("in", mutants, lambda each: each["where"].partition(".")[0])
    lines += _table("change", mutants, lambda each: each["kind"])
    lines += ["## Survivors\n", "| in | change | why it is no bug |", "|---|---|---|"]
    for each in mutants:
        if each["outcome"] != "killed":
            place = f"`{each['where']}`, line {each['line']}"
            lines.append(
                f"| {place} | {_code(each['before'])} becomes {_code(each['after'])} | {EXPLAINED[each['id']]} |"
            )
    lines += ["\n## Tests that were missing\n", *(f"- `{test}`: {what}" for test, what in ADDED.items())]
    return "\n".join(lines) + "\n"


def _table(title: str, mutants: list[dict[str, Any]], of: Callable[[dict[str, Any]], str]) -> list[str]:
    rows = ["", f"| {title} | mutants | a test asserts | an error | no end | survived |", "|---|---|---|---|---|---|"]
    for name in sorted({of(each) for each in mutants}):
        met = Counter(_fate(each) for each in mutants if of(each) == name)
        fates = " | ".join(str(met[fate]) for fate in ("asserted", "error", "time", "survived"))
        rows.append(f"| {name} | {sum(met.values())} | {fates} |")
    return [*rows, ""]


def _fate(each: dict[str, Any]) -> str:
    if each["outcome"] != "killed":
        return "survived"
    return "asserted" if each["how"] in ASSERTED else "time" if each["how"] == "time" else "error"


def _code(text: str) -> str:
    short = " ".join(text.split())
    short = short if len(short) <= 160 else f"{short[:157]}..."
    return f"`{short}`".replace("|", "\\|") if short else "nothing"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    PAGE.write_text(page())

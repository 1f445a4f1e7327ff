"""docs/audit/mutants.md, made from the catalogue. To write it anew: python tests/audit/mutants/page.py"""

from __future__ import annotations

import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "audit" / "mutants.md"
HEAD = """# Planted bugs

{many} bugs of privacy, and of what is said about errors, each planted in the library in turn: a few words of its source
are replaced, and a named test must then fail, and must pass without the bug. `tests/audit/test_mutants.py` does both on
every run of `make test`. Tests that were written for a planted bug are in `tests/audit/test_checks*.py`. This page is
made from the catalogue in `tests/audit/mutants`.
"""


def page() -> str:
    """The whole page."""
    from mutants import MUTANTS, SUBJECTS

    lines = [HEAD.format(many=len(MUTANTS))]
    for title, module in SUBJECTS.items():
        lines += [f"## {title}\n", "| bug | in | killed by |", "|---|---|---|"]
        for each in module.MUTANTS:
            places = "<br>".join(f"`{edit.file}`, `{edit.name}`" for edit in each.edits)
            lines.append(f"| {_cell(each.bug)} | {places} | {_killer(each.killer)}{' (slow)' if each.slow else ''} |")
        lines.append("")
    return "\n".join(lines)


def _killer(killer: str) -> str:
    file, _, test = killer.partition("::")
    return f"`{file}`<br>`{test.partition('[')[0].replace('::', '.')}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page())

"""The versions that `make lowest` and `make newest` install, and a table of those that are.

python scripts/versions.py lowest    # a constraint for pip for each package that Covey needs: its lower bound
python scripts/versions.py newest    # pandas 3 or newer; all else is the newest by itself
python scripts/versions.py table     # what this environment has, as a table for docs/reference/versions.md
"""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())["project"]
EXTRAS = ("excel", "geo", "plot", "spark", "studio")


def bounds() -> dict[str, str]:
    """The lower bound of each package that Covey itself needs, with or without extras."""
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *(each for extra in EXTRAS for each in extras[extra])]
    found = (re.match(r"([\w-]+)>=([\d.]+)", each) for each in needed)
    return {match[1]: match[2] for match in found if match is not None}


def table() -> list[str]:
    """One row for each of them that is installed."""
    rows = ["| package | version |", "|---|---|", f"| Python | {platform.python_version()} |"]
    for name in bounds():
        try:
            rows.append(f"| {name} | {version(name)} |")
        except PackageNotFoundError:
            continue
    return rows


def main(what: str) -> None:
    lines = {
        "lowest": lambda: [f"{name}=={low}" for name, low in bounds().items()],
        "newest": lambda: ["pandas>=3"],
        "table": table,
    }[what]()
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])

"""CONTRIBUTING.md adds an algorithm as an example: followed to the letter, the tests that the page names pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import covey
from covey.algorithms import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| `(tests/[\w/.]+)`", PAGE, flags=re.MULTILINE)  # the tests that find a new row by themselves
NOT_COPIED = shutil.ignore_patterns(".*", "assets", "demo-output", "build", "dist", "site", "*.egg-info")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


SOURCE, ROW = blocks("python")
SECTION, CHANGE = blocks("markdown")


def put(path: Path, *, after: str, line: str) -> None:
    """Put lines behind the first place that this pattern finds."""
    text = path.read_text(encoding="utf-8")
    place = re.search(after, text, flags=re.DOTALL | re.MULTILINE)
    assert place, f"{path.name} has no such place"
    path.write_text(text[: place.end()] + line + text[place.end() :], encoding="utf-8")


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Path:
    """A copy of the project in which somebody has done what the page says, and nothing else."""
    copy = tmp_path_factory.mktemp("page") / "covey"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    named = re.search(r"\*\*2\. Write the file.*?`(src/[\w/]+\.py)`", PAGE)
    (copy / named.group(1)).write_text(SOURCE, encoding="utf-8")
    table = re.search(r"\*\*3\. Add the row.*?`(src/[\w/]+\.py)`, and `([^`]+)`", PAGE)
    row = f"{textwrap.indent(ROW.rstrip(), ' ' * 8)},\n"
    put(copy / table.group(1), after=r"^from covey\.algorithms\.sites [^\n]*\n", line=f"{table.group(2)}\n")
    put(copy / table.group(1), after=r"^ALGORITHMS.*?^        \),\n(?=    \)\n\})", line=row)
    put(copy / "docs/reference/algorithms.md", after=r"\Z", line=f"\n{SECTION}")
    put(copy / "CHANGELOG.md", after=r"\A# Changelog\n\n## [^\n]*\n\n(?:[^#\n][^\n]*\n)+", line=CHANGE)
    return copy


def run(copy: Path, *command: str) -> str:
    """What a tool prints when it succeeds on the copy."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
    environment = {**mine, "PYTHONPATH": str(copy / "src"), "MYPYPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"}
    tool = [sys.executable, "-m", *command]
    done = subprocess.run(tool, cwd=copy, env=environment, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


def files_passed(copy: Path, *options: str) -> set[str]:
    """The files of which some test passed, if none failed."""
    printed = run(copy, "pytest", "-v", "-p", "no:cacheprovider", "-m", "not slow", *options)
    return set(re.findall(r"^(tests/\S+?\.py)::.* PASSED", printed, flags=re.MULTILINE))


@pytest.mark.parametrize("command", [("ruff", "check"), ("ruff", "format", "--check")], ids=" ".join)
def test_the_linters_of_make_test_accept_the_example(followed, command):
    run(followed, *command, "src/covey/algorithms")


def test_every_test_that_the_page_names_finds_the_example_and_passes(followed):
    assert files_passed(followed, "-k", "tiles and not spark", *LISTED) == set(LISTED)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all_tests_pass_with_the_example(followed):
    """Those of its own, on every engine, and those that look at the whole registry or at all pages at once."""
    files_passed(followed, "-k", "tiles", "tests")
    whole = {
        "tests/unit/test_errors.py",
        "tests/unit/algorithms/test_unused_delta.py",
        "tests/unit/private/test_data_sets.py",
    }
    files_passed(followed, "-k", "not spark", *sorted({*LISTED, *whole}))
    run(followed, "mypy")


def test_the_example_finds_clear_clusters_and_refuses_by_name(monkeypatch, blobs):
    names: dict[str, object] = {"__name__": "covey.algorithms.tiles"}
    exec(compile(SOURCE, "tiles.py", "exec"), names)
    tiles = eval(ROW.strip(), {**names, "Algorithm": registry.Algorithm})
    monkeypatch.setitem(registry.ALGORITHMS, "tiles", tiles)
    own = {"algorithm": "tiles", "algorithm_params": {"side": 20}, "random_state": 1}
    model = covey.KMeans(3, epsilon=50, bounds=(-1, 1), **own).fit(blobs)
    distances = abs(model.cluster_centers_[:, None] - [[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]]).max(axis=2)
    assert (distances.min(axis=0) < 0.1).all()
    with pytest.raises(covey.ParameterError, match="side"):
        covey.KMeans(3, bounds=(-1, 1), algorithm="tiles", algorithm_params={"side": 0}).fit(blobs)
    with pytest.raises(covey.ParameterError, match="grid"):
        covey.KMeans(3, bounds=(-1, 1), algorithm="tiles", algorithm_params={"side": 10**5}).fit(blobs)


def test_the_tests_that_the_page_names_look_at_the_registry():
    assert len(LISTED) >= 4
    for path in LISTED:
        assert ("algorithms/" if path.endswith("test_imports.py") else "ALGORITHMS") in (ROOT / path).read_text()

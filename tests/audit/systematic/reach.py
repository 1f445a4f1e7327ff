"""The map from lines to tests: which test runs which lines of the library, and what it costs.

Each block of statements notes that it was entered: one store into a bytearray, so that a run costs little more than
without. `python tests/audit/systematic/reach.py MAP tests/unit/noise ...` writes one line for each test, file by file,
and goes on where it was interrupted. Tests of Spark and slow ones are left out: see docs/decisions/0026.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "covey"
NOTES = "__entered__"
ONCE = re.compile(r'scope="(module|session)"')
LEFT_OUT = ("-m", "not slow", "-k", "not spark")
ELSEWHERE = re.compile(  # tests that plant bugs themselves, run in other processes, or read pages
    r"tests/audit/test_(mutants|systematic|blackbox)|"
    r"tests/unit/(bench|theory|geo|post)/|tests/unit/test_(docs|site|pages|examples|package|contributing|extras)"
)


class Blocks(ast.NodeTransformer):
    """Put a note at the head of every block of statements, and behind every statement that may leave it."""

    def __init__(self, first: int) -> None:
        self.starts: list[int] = []  # lines, one for each block
        self.first = first

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, list(self._noted(block, whole=isinstance(node, ast.Module | ast.ClassDef))))
        return node

    def _noted(self, block: list[ast.stmt], *, whole: bool) -> Iterator[ast.stmt]:
        fresh = not whole
        for each in block:
            words = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
            if fresh and not words and not isinstance(each, ast.ImportFrom):
                yield self._note(each)
                fresh = False
            yield each
            fresh = not whole and (fresh or isinstance(each, ast.If | ast.For | ast.While | ast.Try | ast.With))

    def _note(self, before: ast.stmt) -> ast.stmt:
        note = ast.parse(f"{NOTES}[{self.first + len(self.starts)}] = 1").body[0]
        self.starts.append(before.lineno)
        return ast.copy_location(ast.fix_missing_locations(ast.copy_location(note, before)), before)


@cache
def starts_of(file: str) -> list[int]:
    """The lines at which blocks of a file begin, entered or not."""
    blocks = Blocks(0)
    blocks.visit(ast.parse((SOURCE / file).read_text(encoding="utf-8")))
    return sorted(blocks.starts)


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the library with its notes."""

    finder: Finder

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        blocks = Blocks(len(self.finder.places))
        tree = ast.fix_missing_locations(blocks.visit(tree))
        file = Path(path).relative_to(SOURCE).as_posix()
        self.finder.places += [(file, line) for line in blocks.starts]
        return compile(tree, path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the library's modules, and knows what was entered since it was last asked."""

    def __init__(self) -> None:
        self.places: list[tuple[str, int]] = []
        self.entered = bytearray(1 << 16)
        setattr(builtins, NOTES, self.entered)

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> Any:  # noqa: ARG002
        if name.partition(".")[0] != "covey":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            loader = Loader(spec.loader.name, spec.loader.path)
            loader.finder = self
            spec.loader = loader
        return spec

    def taken(self) -> set[tuple[str, int]]:
        """The blocks that were entered, and all forgotten."""
        found = {self.places[at] for at, seen in enumerate(self.entered[: len(self.places)]) if seen}
        self.entered[:] = bytes(len(self.entered))
        return found


class Recorder:
    """Notes for each test what it entered, and what it cost."""

    def __init__(self, finder: Finder) -> None:
        self.finder = finder
        self.tests: list[dict[str, Any]] = []
        self.began = 0.0
        self.reset = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        from mutants.planting import forget

        report = yield
        if call.when == "setup":
            self.tests.append(
                {"test": item.nodeid, "passed": True, "setup": 0.0, "call": 0.0, "set": set(), "in": set()}
            )
        last = self.tests[-1]
        spent, self.began = time.process_time() - self.began, time.process_time()
        if call.when != "teardown":
            last[call.when] = round(spent, 3)
            last["set" if call.when == "setup" else "in"] = self.finder.taken()
        else:
            self.finder.taken()
            forget()
        last["passed"] &= report.passed
        return report


def record(files: Sequence[Path], out: Path) -> None:
    """Run these files of tests and write a line for each test; files that are in the map already are left."""
    sys.path[:0] = [str(Path(__file__).parents[1])]
    finder = Finder()
    sys.meta_path.insert(0, finder)
    known = {line["test"].partition("::")[0] for line in read(out)}
    for file in files:
        name = file.resolve().relative_to(ROOT).as_posix()
        if name in known:
            continue
        recorder = Recorder(finder)
        recorder.began = time.process_time()
        pytest.main(["-q", "-p", "no:cacheprovider", *LEFT_OUT, str(file)], plugins=[recorder])
        shared = set().union(*(each["set"] for each in recorder.tests)) if ONCE.search(file.read_text()) else set()
        dearest = max((each["setup"] for each in recorder.tests), default=0.0) if shared else 0.0
        with out.open("a") as lines:
            for each in recorder.tests or [{"test": name, "passed": False, "setup": 0, "call": 0, "set": (), "in": ()}]:
                places: dict[str, list[int]] = {}
                for path, line in sorted({*each.pop("in"), *each.pop("set"), *shared}):
                    places.setdefault(path, []).append(line)
                cost = round(max(each.pop("setup"), dearest) + each.pop("call"), 3)
                lines.write(json.dumps({**each, "cost": cost, "enters": places}) + "\n")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_files(paths: Sequence[str]) -> list[Path]:
    """All files of tests at and below these paths."""
    found = [file for path in map(Path, paths) for file in (sorted(path.rglob("test_*.py")) or [path])]
    return [file for file in found if not ELSEWHERE.match(file.as_posix())]


if __name__ == "__main__":
    os.chdir(ROOT)
    record(test_files(sys.argv[2:]), Path(sys.argv[1]))

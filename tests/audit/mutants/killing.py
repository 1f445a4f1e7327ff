"""Running a named test of the suite, as pytest runs it, inside this process: with the bug that was planted here."""

from __future__ import annotations

import contextlib
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

TESTS = Path(__file__).parents[2]
ASSERTED = ("AssertionError", "Failed", "Flaky")
QUIET = ("-q", "-x", "--no-header", "--capture=no", "--timeout=0", f"--rootdir={TESTS.parent}")
WITH = ("pytest_timeout",)  # of what is installed: pyproject.toml has a setting for it
WITHOUT = (  # what is not needed, or costs time: the last two collect all garbage, five times over
    "cacheprovider",
    "faulthandler",
    *("doctest", "junitxml", "legacypath", "pastebin", "setuponly", "setupplan", "stepwise", "unittest"),
    "unraisableexception",
    "threadexception",
)


@dataclass(eq=False)
class Verdict:
    """What became of a test: how many cases passed, of what the failed ones died, and what else went wrong."""

    passed: int = 0
    died: list[tuple[str, str]] = field(default_factory=list)  # kind of exception, its words
    cases: set[str] = field(default_factory=set)  # that failed, each a killer of its own
    broken: list[str] = field(default_factory=list)
    output: str = ""
    files: frozenset[Path] = frozenset()  # that are looked at; without any, all

    @property
    def healthy(self) -> bool:
        return self.passed > 0 and not self.died and not self.broken

    def killed(self, dies_of: tuple[str, ...] = ()) -> bool:
        """Whether a case failed, and by what it asserts: a bug that only crashes the test proves nothing."""
        return not self.broken and any(kind in (*ASSERTED, *dies_of) for kind, _ in self.died)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report = yield
        if report.when == "call" and report.passed:
            self.passed += 1
        elif report.failed and report.when != "setup":  # a fixture may assert at the end
            self.died.append((call.excinfo.type.__name__, f"{item.name}: {call.excinfo.value}"))
            self.cases.add(item.nodeid.removeprefix(f"{TESTS.name}/"))
        elif report.failed:
            self.broken.append(f"{report.when} of {item.name}: {call.excinfo.value!r}")
        return report

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """The neighbours of a test are not even looked at: there may be dozens in its folder."""
        return True if self.files and collection_path.is_file() and collection_path not in self.files else None

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid} could not be collected: {report.longrepr}")


def run(killer: str) -> Verdict:
    """Run "file::test" (below tests/), or several of them with a space between."""
    files = frozenset(TESTS / each.partition("::")[0] for each in nodes(killer))
    verdict, output = Verdict(files=files), io.StringIO()
    plugins = [part for name in (*WITH, *(f"no:{each}" for each in WITHOUT)) for part in ("-p", name)]
    tests = [str(TESTS / each) for each in nodes(killer)]
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
        mock.patch.dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
    ):
        code = pytest.main([*tests, *QUIET, *plugins, "-c", str(TESTS.parent / "pyproject.toml")], plugins=[verdict])
    if code not in (0, 1):
        verdict.broken.append(f"pytest ended with {code!r}")
    verdict.output = output.getvalue()
    return verdict


def nodes(killer: str) -> list[str]:
    return killer.split("  ")

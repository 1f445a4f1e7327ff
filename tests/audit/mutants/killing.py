"""Running a named test of the suite, as pytest runs it, inside this process: with the bug that was planted here."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[2]
ASSERTED = ("AssertionError", "Failed", "Flaky")
QUIET = ("-q", "-x", "--no-header", "--capture=no", "--timeout=0", f"--rootdir={TESTS.parent}")
WITHOUT = (  # what is not needed, or costs time: the last two collect all garbage, five times over
    "cacheprovider",
    "xdist",
    "faulthandler",
    "hypothesispytest",
    "randomly",
    "unraisableexception",
    "threadexception",
)


@dataclass(eq=False)
class Verdict:
    """What became of a test: how many cases passed, of what the failed ones died, and what else went wrong."""

    passed: int = 0
    died: list[tuple[str, str]] = field(default_factory=list)  # kind of exception, its words
    broken: list[str] = field(default_factory=list)
    output: str = ""

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
        elif report.failed:
            self.broken.append(f"{report.when} of {item.name}: {call.excinfo.value!r}")
        return report

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid} could not be collected: {report.longrepr}")


def run(killer: str) -> Verdict:
    """Run "file::test" (below tests/), or several of them with a space between."""
    verdict, output = Verdict(), io.StringIO()
    plugins = [part for name in WITHOUT for part in ("-p", f"no:{name}")]
    tests = [str(TESTS / each) for each in nodes(killer)]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = pytest.main([*tests, *QUIET, *plugins, "-c", str(TESTS.parent / "pyproject.toml")], plugins=[verdict])
    if code not in (0, 1):
        verdict.broken.append(f"pytest ended with {code!r}")
    verdict.output = output.getvalue()
    return verdict


def nodes(killer: str) -> list[str]:
    return killer.split("  ")

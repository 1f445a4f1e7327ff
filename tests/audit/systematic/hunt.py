"""The hunt: each mutant meets the tests that run its lines, until one fails.

All tests are collected once. For each mutant the process forks: the child has the bug, and runs tests until one fails,
those first that are near and quick. A test that fails without the bug as well kills nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from mutants.killing import WITHOUT, Verdict

from systematic.making import SOURCE, Made
from systematic.reach import LEFT_OUT, starts_of

ROOT = SOURCE.parents[1]
FIRST = 25  # tests that come before others of the same files
SLACK = 2.0  # CPU seconds of a test beyond six times its own: then it has no end
MEMORY = 6 << 30


@dataclass(eq=False)
class Map:
    """Which tests enter which blocks, from the lines that reach.py wrote."""

    lines: list[dict[str, Any]]
    tests: dict[tuple[str, int], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = list({line["test"]: line for line in self.lines}.values())
        for at, line in enumerate(self.lines):
            for file, blocks in line["enters"].items():
                for block in blocks:
                    self.tests.setdefault((file, block), []).append(at)

    def covering(self, made: Made) -> list[dict[str, Any]]:
        """The tests that enter a mutant's block, or of a constant all that enter its file; the best first."""
        starts = starts_of(made.file)
        blocks = [start for start in starts if start <= made.line][-1:] if "\n" in made.source else starts
        found = {at for block in blocks for at in self.tests.get((made.file, block), ())}
        best = sorted(found, key=lambda at: self._rank(made, at))
        return _by_file(_spread([self.lines[at] for at in best if self.lines[at]["passed"]]))

    def _rank(self, made: Made, at: int) -> float:
        """Quick tests come first, and such as are near: of the same folder, and of the same name."""
        line = self.lines[at]
        folder, name = made.file.partition("/")[0], Path(made.file).stem
        near = 0.5 if f"/{folder}/" in line["test"] else 1.0
        near *= 0.25 if re.search(rf"{name}", line["test"].partition("::")[0]) else 1.0
        return near * (0.05 + line["cost"]) * (1 + sum(map(len, line["enters"].values())) / 400)


def _spread(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a test with many cases, two first; the others after all other tests."""
    seen: dict[str, int] = {}
    early, late = [], []
    for line in lines:
        test = line["test"].partition("[")[0]
        seen[test] = seen.get(test, 0) + 1
        (early if seen[test] <= 2 else late).append(line)
    return early + late


def _by_file(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In each part, tests of one file follow each other: they share what the file has made."""

    def together(some: list[dict[str, Any]]) -> list[dict[str, Any]]:
        order: dict[str, list[dict[str, Any]]] = {}
        for line in some:
            order.setdefault(line["test"].partition("::")[0], []).append(line)
        return [line for each in order.values() for line in each]

    return together(lines[:FIRST]) + together(lines[FIRST:])


@dataclass(eq=False)
class Hunt:
    """A plugin of pytest whose loop runs mutants, not tests."""

    mutants: Sequence[Made]
    map: Map
    note: Callable[[dict[str, Any]], None]
    seconds: float  # CPU time for a mutant: no further test begins after that
    unfit: set[str] = field(default_factory=set)
    fit: set[str] = field(default_factory=set)

    def pytest_sessionstart(self) -> None:
        first = (Phase.explicit, Phase.generate)  # a failing example is not made smaller
        quick = settings(settings.get_profile("covey"), phases=first, report_multiple_bugs=False)
        settings.register_profile("hunt", quick)
        settings.load_profile("hunt")

    def pytest_runtestloop(self, session: Any) -> bool:
        items = {item.nodeid: item for item in session.items}
        for made in self.mutants:
            self.note(self.result(made, items))
        return True

    def result(self, made: Made, items: dict[str, Any]) -> dict[str, Any]:
        """What became of a mutant."""
        lines = [line for line in self.map.covering(made) if line["test"] in items]
        told: dict[str, Any] = {}
        while not told:
            lines = [line for line in lines if line["test"] not in self.unfit]
            told = self.forked(made, lines, items)
            killer = told.get("by")
            if killer is not None and killer not in self.fit:
                again = self.forked(None, [line for line in lines if line["test"] == killer], items)
                (self.fit if again["outcome"] == "survived" else self.unfit).add(killer)
                told = told if killer in self.fit else {}
        about = {"id": made.id, "where": made.where, "kind": made.kind, "line": made.line}
        return {**about, "before": made.before, "after": made.after, "reached_by": len(lines), **told}

    def forked(self, made: Made | None, lines: list[dict[str, Any]], items: dict[str, Any]) -> dict[str, Any]:
        """Run tests in a child, with the bug or without, and read what it tells."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self.child(made, [(items[line["test"]], line["cost"]) for line in lines], writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = [json.loads(line) for line in pipe]
        _, status, usage = os.wait4(child, 0)
        last = said[-1] if said else {}
        seconds = round(usage.ru_utime + usage.ru_stime, 2)
        if "outcome" in last:
            return {**last, "seconds": seconds}
        ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "the process ended"
        how = "time" if ended in ("SIGPROF", "SIGALRM") else ended
        return {"outcome": "killed", "by": last.get("test"), "how": how, "tests": len(said), "seconds": seconds}

    def child(self, made: Made | None, tests: list[tuple[Any, float]], pipe: int) -> None:
        """Run tests until one fails, and tell what happens; never returns."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for each in (0, 1, 2):
            os.dup2(nowhere, each)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

        def tell(**what: Any) -> None:
            os.write(pipe, (json.dumps(what) + "\n").encode())

        try:
            with contextlib.nullcontext() if made is None else made.applied():
                tell(**self.met(tests, tell))
        except BaseException as error:
            tell(outcome="unfit", how=f"{type(error).__name__}: {error}"[:200])
        os._exit(0)

    def met(self, tests: list[tuple[Any, float]], tell: Callable[..., None]) -> dict[str, Any]:
        """What became of the bug that is planted here."""
        if not tests:
            return {"outcome": "not reached", "tests": 0}
        verdict = Verdict()
        tests[0][0].config.pluginmanager.register(verdict)
        ran = 0
        for (item, cost), (after, _) in zip_longest(tests, tests[1:], fillvalue=(None, 0)):
            tell(test=item.nodeid)
            ran += 1
            signal.setitimer(signal.ITIMER_PROF, SLACK + 6 * cost)
            signal.setitimer(signal.ITIMER_REAL, 20 * (SLACK + 6 * cost))
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            if verdict.died or verdict.broken:
                how = verdict.died[0][0] if verdict.died else "a fixture fails"
                return {"outcome": "killed", "by": item.nodeid, "how": how, "tests": ran}
            if _spent() > self.seconds:
                break
        return {"outcome": "survived", "tests": ran}


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def hunt(
    mutants: Sequence[Made], lines: list[dict[str, Any]], note: Callable[[dict[str, Any]], None], *, seconds: float
) -> None:
    """Hunt these mutants with the tests of a map."""
    files = sorted({str(ROOT / line["test"].partition("::")[0]) for line in lines})
    without = [part for name in (*WITHOUT, "xdist") for part in ("-p", f"no:{name}")]
    with tempfile.TemporaryDirectory(prefix="covey-hunt-") as folder, open(os.devnull, "w") as nowhere:
        places = (f"--basetemp={folder}/rows", f"--rootdir={ROOT}", "-o", "tmp_path_retention_policy=failed")
        options = ("-q", "--no-header", "--capture=no", "--timeout=0", *LEFT_OUT, *places, *without)
        with contextlib.redirect_stdout(nowhere):
            code = pytest.main([*options, *files], plugins=[Hunt(mutants, Map(lines), note, seconds)])
    if code != 0:
        raise SystemExit(f"the tests could not be collected: {code!r}")

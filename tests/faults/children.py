"""Children on a disk that fails: the other end of `nursery.py`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KILL_BEFORE, KILL_AFTER, KILL_WITHIN = -1, -2, -3
KILLED = -int(signal.SIGKILL)


@dataclass(frozen=True)
class Done:
    """What became of a child: exit code (negative: the signal), whether it asked for rows, calls to the disk."""

    code: int
    rows: bool
    hung: bool
    calls: int | None
    seconds: float
    out: str
    err: str


def missing() -> str | None:
    """Why there can be no nursery here, or None."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    if shutil.which("cc") is None:
        return "needs a C compiler (cc)"
    return None


class Nursery:
    """A warm process that forks children; use it as a context."""

    def __enter__(self) -> Nursery:
        self._folder = tempfile.TemporaryDirectory(prefix="covey-nursery-")
        self._where = Path(self._folder.name)
        library = self._where / "failing.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "failing.c"), "-ldl"], check=True
        )
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "nursery.py")],
            env={**os.environ, "LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._folder.cleanup()

    def run(self, arguments: list[str], *, folder: Path, **request: Any) -> Done:
        """Run a command of Covey in `folder`, on a disk as the request says.

        at, error, sticky: which call fails, how, and whether all later ones do too; clock: seconds by which the clock
        is off; after, signal: when to send which signal; limit: the largest file; busy: seconds to wait for a ledger.
        """
        answer = self._ask(arguments, folder, **request)
        return Done(**answer, out=self._text("out"), err=self._text("err"))

    def race(self, arguments: list[str], *, folder: Path, runs: int) -> list[tuple[int, str, str]]:
        """So many children that do the same at the same time: exit code, output and errors of each."""
        codes = self._ask(arguments, folder, race=runs)["codes"]
        return [(code, self._text(f"out.{i}"), self._text(f"err.{i}")) for i, code in enumerate(codes)]

    def _ask(self, arguments: list[str], folder: Path, **request: Any) -> dict[str, Any]:
        out, err = self._where / "out", self._where / "err"
        line = {"arguments": arguments, "folder": str(folder), "out": str(out), "err": str(err), **request}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def _text(self, name: str) -> str:
        return (self._where / name).read_text(errors="replace")

"""Long work on a thread of its own, with progress and a way to stop it. What was charged stays charged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from covey.errors import CoveyError
from covey.studio.refusals import bug
from covey.studio.settings import new_id

Progress = Callable[[int, int, str], None]
Work = Callable[[Progress, Callable[[], bool]], None]
STOPPED = "cancelled; what was charged stays charged, for rows may have been read"


class Stopped(Exception):
    """Raised inside the work where it reports progress after somebody cancelled it."""


class Job:
    """One piece of work: running, then done, failed or cancelled. Progress counts releases, never rows."""

    def __init__(self, work: Work) -> None:
        self.id = new_id()
        self._work = work
        self._cancel = threading.Event()
        self._lock = threading.Lock()
        self._state, self._error = "running", None
        self._progress = (0, 1, "starting")
        self._thread = threading.Thread(target=self._run, name=f"covey-job-{self.id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        """Ask the work to stop; it does so at its next step. One that has ended stays as it is."""
        self._cancel.set()

    def wait(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    @property
    def running(self) -> bool:
        with self._lock:
            return self._state == "running"

    def describe(self) -> dict[str, Any]:
        with self._lock:
            done, of, what = self._progress
            stopping = self._state == "running" and self._cancel.is_set()
            return {
                "id": self.id,
                "state": self._state,
                "done": done,
                "of": of,
                "what": "stopping" if stopping else what,
                "error": self._error,
            }

    def _report(self, done: int, of: int, what: str) -> None:
        if self._cancel.is_set():
            raise Stopped
        with self._lock:
            self._progress = (done, of, what)

    def _run(self) -> None:
        try:
            self._work(self._report, self._cancel.is_set)
        except Exception as error:
            if self._cancel.is_set():
                self._end("cancelled", STOPPED)
            elif isinstance(error, CoveyError):
                self._end("failed", str(error))
            elif isinstance(error, MemoryError):
                self._end("failed", "the rows do not fit into memory; what was charged stays charged")
            else:
                self._end("failed", bug(error))
        else:
            self._end("done", None)

    def _end(self, state: str, error: str | None) -> None:
        with self._lock:
            self._state, self._error = state, error  # type: ignore[assignment]
            if state == "done":
                self._progress = (self._progress[1], self._progress[1], "done")

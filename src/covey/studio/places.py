"""How far the centres of a level may be off: reruns on made-up rows, in the background, for the page to ask about."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from covey.fit.rehearse import rehearse_level, with_reruns
from covey.fit.slider import LevelSet
from covey.post.errors.reruns import RERUNS
from covey.published.errors import Errors
from covey.studio.jobs import Job, Progress

KEPT = 256  # answers
Asked = tuple[int, int, str, bool]  # level, number of centres, objective, whether boxes at the edge take part


class Places:
    """The errors of levels with those that need reruns. One is computed at a time: a later wish ends an earlier one."""

    def __init__(self, levels: LevelSet) -> None:
        self._levels = levels
        self._lock = threading.Lock()
        self._known: OrderedDict[Asked, Errors | None] = OrderedDict()
        self._job: tuple[Asked, Job] | None = None

    def ask(self, asked: Asked) -> dict[str, Any]:
        """What is known by now; if nothing is, work on it begins. Free: only released numbers are used."""
        with self._lock:
            if asked in self._known:
                return {"state": "done", **_described(self._known[asked])}
            if self._job is None or self._job[0] != asked:
                self.stop()
                job = Job(lambda progress, _: self._work(asked, progress))
                self._job = (asked, job)
                job.start()
            return {"state": "failed" if self._job[1].describe()["error"] else "running"}

    def now(self, asked: Asked) -> Errors | None:
        """The errors of a level, computed while the caller waits unless they are known."""
        with self._lock:
            if asked in self._known:
                return self._known[asked]
        return self._find(asked, None)

    def stop(self) -> None:
        """End what is being computed at its next step."""
        if self._job is not None:
            self._job[1].cancel()

    def _work(self, asked: Asked, progress: Progress) -> None:
        self._find(asked, progress)

    def _find(self, asked: Asked, progress: Progress | None) -> Errors | None:
        level, k, objective, edges = asked
        errors = self._levels.known(level, k, objective=objective, edges=edges).errors
        found = rehearse_level(self._levels, level, k, objective, edges=edges, step=_steps(progress))
        complete = errors if errors is None or found is None else with_reruns(errors, found)
        with self._lock:
            self._known[asked] = complete
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return complete


def _steps(progress: Progress | None) -> Callable[[], None]:
    """Counts reruns; the job's progress raises once somebody cancelled it."""
    done = 0

    def step() -> None:
        nonlocal done
        if progress is not None:
            progress(done, RERUNS, "running the fit on made-up rows")
        done += 1

    return step


def _described(errors: Errors | None) -> dict[str, Any]:
    return {"radii": None, "excess": None} if errors is None else {"radii": errors.radii, "excess": errors.excess}

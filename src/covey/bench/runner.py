"""Many small tasks on a few processes; each finished one is kept at once, so that a run can stop and go on.

An interruption loses the running tasks only. A task is known by its kind and parameters: what changes an answer
must be one of them, and then an old answer is never taken for a new one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from covey.errors import CoveyError, DataError

Answer = dict[str, Any]
Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Task:
    """What is to be done. Tasks to be done `alone` come last, one at a time: their times matter."""

    kind: str
    parameters: dict[str, Any]
    label: str = ""  # for people, and shared by tasks that take about as long
    alone: bool = False

    @property
    def key(self) -> str:
        return f"{self.kind} {json.dumps(self.parameters, sort_keys=True)}"


class Store:
    """Answers in a file of JSON lines. A line that an interruption tore apart is cut off."""

    def __init__(self, path: Path) -> None:
        self.answers: dict[str, Answer] = {}
        self.seconds: dict[str, float] = {}
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a+b") as file:
                file.seek(0)
                content = file.read()
                whole = content.rfind(b"\n") + 1
                file.truncate(whole)
        except OSError as error:
            raise DataError(f"out: cannot use {path.name}: {error.strerror or 'input/output error'}") from None
        for line in content[:whole].splitlines():
            try:
                entry = json.loads(line)
                self.answers[entry["task"]], self.seconds[entry["task"]] = entry["answer"], entry["seconds"]
            except (ValueError, KeyError, TypeError):
                continue  # not ours; it is done again

    def add(self, task: Task, answer: Answer, seconds: float) -> None:
        """Keep an answer for good: when this returns, a power cut cannot lose it."""
        line = json.dumps({"task": task.key, "seconds": round(seconds, 4), "answer": answer})
        with self._path.open("ab") as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.answers[task.key], self.seconds[task.key] = answer, seconds


def run_tasks(
    tasks: Sequence[Task],
    *,
    work: Callable[[Task], Answer],
    store: Store,
    workers: int = 2,
    report: Report | None = None,
) -> None:
    """Do every task that the store has no answer for. `work` must be a function that another process can import."""
    left = {task.key: task for task in tasks if task.key not in store.answers}
    for alone in (False, True):
        waiting = [task for task in left.values() if task.alone is alone]
        many = 1 if alone else min(workers, len(waiting))
        for task in _answers(waiting, work=work, store=store, workers=many) if waiting else ():
            del left[task.key]
            if report is not None:
                remaining = _words(_estimate(list(left.values()), tasks, store) / max(1, many))
                report(len(tasks) - len(left), len(tasks), f"{task.label}; {remaining}")


def _answers(tasks: list[Task], *, work: Callable[[Task], Answer], store: Store, workers: int) -> Iterator[Task]:
    queue = iter(tasks)
    with _crew(workers, work) as pipes:
        busy: dict[Connection, Task] = {}
        for pipe in pipes:
            _hand_out(pipe, queue, busy)
        while busy:
            ready = wait(list(busy))
            for pipe in [each for each in busy if each in ready]:
                task = busy.pop(pipe)
                try:
                    answer, problem, seconds = pipe.recv()
                except (EOFError, ConnectionResetError):  # the second: it never read its task
                    raise RuntimeError(f"{task.label}: the process ended; run again to go on from here") from None
                if isinstance(problem, CoveyError):
                    raise problem
                if problem is not None:
                    raise RuntimeError(f"{task.label} failed:\n{problem}")
                store.add(task, answer, seconds)
                _hand_out(pipe, queue, busy)
                yield task


def _hand_out(pipe: Connection, queue: Iterator[Task], busy: dict[Connection, Task]) -> None:
    task = next(queue, None)
    if task is not None:
        with suppress(BrokenPipeError):  # it is gone; who waits for its answer learns that
            pipe.send(task)
        busy[pipe] = task


@contextmanager
def _crew(size: int, work: Callable[[Task], Answer]) -> Iterator[list[Connection]]:
    """Processes that wait for tasks; whatever happens, none is left behind."""
    context = get_context("spawn")
    pipes, processes = [], []
    try:
        for place in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, work, place), daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        yield pipes
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.terminate()
            process.join()


def _serve(pipe: Connection, work: Callable[[Task], Answer], place: int) -> None:
    """The life of a worker: one core, one thread, task after task until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[place % len(cores)]})
    with threadpool_limits(limits=1):
        while True:
            try:
                task = pipe.recv()
            except EOFError:
                return
            started = time.perf_counter()
            answer, problem = attempt(task, work)
            try:
                pipe.send((answer, problem, time.perf_counter() - started))
            except BrokenPipeError:
                return


def attempt(task: Task, work: Callable[[Task], Answer]) -> tuple[Answer | None, CoveyError | str | None]:
    """The answer, or what went wrong: an error of Covey, to be told in its own words, or a bug with its traceback."""
    try:
        return work(task), None
    except CoveyError as error:
        return None, error
    except Exception as error:
        return None, "".join(traceback.format_exception(error))


@lru_cache(maxsize=1)
def code() -> str:
    """The day, and the commit of the code that measures, where it is known."""
    ask = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        commit = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        commit = "unknown"
    return f"{time.strftime('%Y-%m-%d')} {commit}"


def _estimate(left: Sequence[Task], tasks: Sequence[Task], store: Store) -> float:
    """Seconds of work left, from finished tasks with the same label, or else from all of them."""
    known: dict[str, list[float]] = defaultdict(list)
    for task in tasks:
        if task.key in store.seconds:
            known[task.label].append(store.seconds[task.key])
            known[""].append(store.seconds[task.key])
    mean = {label: sum(times) / len(times) for label, times in known.items()}
    return sum(mean.get(task.label, mean.get("", 0.0)) for task in left)


def _words(seconds: float) -> str:
    if seconds < 1:
        return "almost done"
    return f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"

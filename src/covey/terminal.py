"""Words and progress for a person at a terminal; silent in a pipe. Progress counts releases, never rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def say(text: str) -> None:
    """One paragraph on stderr."""
    sys.stderr.write(text + "\n")


@contextmanager
def progress_bar(*, show: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """A function (done, of, what) that draws a bar on stderr, or None where nobody is watching."""
    if not (show and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("checking", total=None)

        def report(done: int, of: int, what: str) -> None:
            # While rows are first read, and those of people chosen, the bar moves but does not say how far.
            progress.update(task, completed=done, total=of if done else None, description=what)

        yield report

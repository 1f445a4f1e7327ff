"""The command `covey audit`: Covey's own privacy under attack, or that of any other clustering function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from covey.errors import DataError, need

if TYPE_CHECKING:
    from covey.audit.cells import Cell
    from covey.bench.runner import Answer


@click.command(short_help="Attack every algorithm: measured lower bounds on epsilon, replays, transcripts.")
@click.option("--algorithm", "algorithms", multiple=True, metavar="NAME", help="Only this one. Repeatable.")
@click.option("--system", "systems", multiple=True, metavar="M:F", help="Attack function F of module M. Repeatable.")
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace-one"]),
    help="With --system: what it promises to hide; add-remove by default.",
)
@click.option("--delta", type=float, metavar="D", help="With --system: the delta that it is given; pure by default.")
@click.option(
    "--columns", type=click.IntRange(1, 1000), multiple=True, metavar="D", help="With --system: of the made-up rows."
)
@click.option("-k", "k", type=click.IntRange(1, 12), metavar="K", help="With --system: number of centres.")
@click.option("--trials", type=click.IntRange(min=40), metavar="N", help="Fits of each neighbour; 400 by default.")
@click.option("--epsilon", "epsilons", type=float, multiple=True, metavar="E", help="What is claimed. Repeatable.")
@click.option("--full", is_flag=True, help="Everything, more often: hours on two cores.")
@click.option("--out", metavar="DIR", help="Folder for report.html, results.json and README.md.")
@click.option("--resume", is_flag=True, help="Go on with the run that was interrupted in --out.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes at work.")
def audit(
    *,
    algorithms: tuple[str, ...],
    systems: tuple[str, ...],
    neighbours: str | None,
    delta: float | None,
    columns: tuple[int, ...],
    k: int | None,
    trials: int | None,
    epsilons: tuple[float, ...],
    full: bool,
    out: str | None,
    resume: bool,
    workers: int,
) -> None:
    """Attack every algorithm of Covey (or some, or a system from outside) and print what was claimed and measured.

    Three attacks on made-up rows: lower bounds on epsilon from many fits of two neighbours, replays on neighbours with
    the released values frozen, and the exact privacy loss of recorded runs. Of a system from outside, a function
    F(X, k, epsilon, delta, bounds) -> centres, only the first can be made. Exit code 1 if any of them finds a leak.

    \b
    Examples:
      covey audit
      covey audit --algorithm lloyd --algorithm grid --trials 2000
      covey audit --full --out audit --resume
      covey audit --system mypackage:cluster --epsilon 0.5 --trials 2000
    """
    if systems and (algorithms or full):
        raise click.UsageError("--system: is attacked by itself, without --algorithm or --full")
    if not systems and (neighbours or delta is not None or columns or k):
        raise click.UsageError("--system: --neighbours, --delta, --columns and -k are about a system; name one")
    if resume and out is None:
        raise click.UsageError("--resume: needs --out, the folder of the run that was interrupted")
    if out is not None:
        need("plot", "--out: the report")
    from dataclasses import replace

    from covey.algorithms.systems import packages
    from covey.audit.cells import FULL, USUAL, plan, plan_systems
    from covey.audit.report import write
    from covey.audit.summary import HEADERS, beyond, lines, weak
    from covey.audit.systems import COLUMNS, promises, refuse_broken
    from covey.checks import amount
    from covey.text import show_table

    size = FULL if full else USUAL
    size = replace(
        size,
        trials=trials or size.trials,
        epsilons=tuple(float(amount("epsilon", e)) for e in epsilons) or size.epsilons,
    )
    if systems:
        promised = promises(
            list(dict.fromkeys(systems)),
            neighbours=neighbours or "add-remove",
            epsilons=size.epsilons,
            delta=0.0 if delta is None else float(amount("delta", delta, below=1)),
            columns=columns or COLUMNS,
            k=k,
        )
        refuse_broken(promised)
        cells = plan_systems(promised, trials=size.trials)
    else:
        cells = plan(size, algorithms=list(dict.fromkeys(algorithms)) or None)
    done, seconds, wall = attacked(cells, out=out, resume=resume, workers=workers)
    found = lines(done)
    if out is not None:
        write(Path(out), done, size=size, seconds=seconds, packages=packages() if systems else None)
    show_table(HEADERS, [line.cells() for line in found])
    for problem in [each for line in found for each in line.problems]:
        click.echo(f"FAILED {problem}")
    for each in weak(done):
        click.echo(f"weak attack: {each}")
    for each in beyond(done):
        click.echo(f"too few fits: {each}")
    see = "" if out is None else f"; see {out}/{'results.json' if systems else 'report.html'}"
    click.echo(f"{len(done)} cells in {wall:.0f} s{see}")
    if any(line.failed for line in found):
        raise click.exceptions.Exit(1)


def attacked(
    cells: list[Cell], *, out: str | None, resume: bool, workers: int
) -> tuple[list[tuple[Cell, Answer]], float, float]:
    """Every cell with its answer; the seconds of work, and those by the clock. With `out`, answers are kept there."""
    import time
    from tempfile import TemporaryDirectory

    from covey.audit.cells import work
    from covey.bench.runner import Store, Task, run_tasks
    from covey.terminal import progress_bar

    if out is not None:
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"out: cannot make the folder {out!r}: {error.strerror}") from None
    tasks = [Task(cell.kind, cell.parameters, cell.label) for cell in cells]
    with TemporaryDirectory() as nowhere, progress_bar(show=True) as report:
        kept = Path(out or nowhere) / "cells.jsonl"
        if not resume:
            kept.unlink(missing_ok=True)
        store, started = Store(kept), time.monotonic()
        run_tasks(tasks, work=work, store=store, workers=workers, report=report)
        done = [(cell, store.answers[task.key]) for cell, task in zip(cells, tasks, strict=True)]
    return done, sum(store.seconds[task.key] for task in tasks), time.monotonic() - started

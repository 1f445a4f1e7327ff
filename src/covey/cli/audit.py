"""The command `covey audit`: Covey's own privacy under attack."""

from __future__ import annotations

import click

from covey.errors import DataError, need


@click.command(short_help="Attack every algorithm: measured lower bounds on epsilon, replays, transcripts.")
@click.option("--algorithm", "algorithms", multiple=True, metavar="NAME", help="Only this one. Repeatable.")
@click.option("--trials", type=click.IntRange(min=40), metavar="N", help="Fits of each neighbour; 400 by default.")
@click.option("--epsilon", "epsilons", type=float, multiple=True, metavar="E", help="What is claimed. Repeatable.")
@click.option("--full", is_flag=True, help="Everything, more often: one to two hours on two cores.")
@click.option("--out", metavar="DIR", help="Folder for report.html, results.json and README.md.")
@click.option("--resume", is_flag=True, help="Go on with the run that was interrupted in --out.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes at work.")
def audit(
    *,
    algorithms: tuple[str, ...],
    trials: int | None,
    epsilons: tuple[float, ...],
    full: bool,
    out: str | None,
    resume: bool,
    workers: int,
) -> None:
    """Attack every algorithm of Covey (or some) and print what was claimed next to what was measured.

    Three attacks on made-up rows: lower bounds on epsilon from many fits of two neighbours, replays on neighbours with
    the released values frozen, and the exact privacy loss of recorded runs. Exit code 1 if any of them finds a leak.

    \b
    Examples:
      covey audit
      covey audit --algorithm lloyd --algorithm grid --trials 2000
      covey audit --full --out audit --resume
    """
    if resume and out is None:
        raise click.UsageError("--resume: needs --out, the folder of the run that was interrupted")
    if out is not None:
        need("plot", "--out: the report")
    import time
    from dataclasses import replace
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from covey.audit.cells import FULL, USUAL, plan, work
    from covey.audit.report import write
    from covey.audit.summary import HEADERS, lines, weak
    from covey.bench.runner import Store, Task, run_tasks
    from covey.checks import amount
    from covey.terminal import progress_bar
    from covey.text import show_table

    size = FULL if full else USUAL
    size = replace(
        size,
        trials=trials or size.trials,
        epsilons=tuple(float(amount("epsilon", e)) for e in epsilons) or size.epsilons,
    )
    cells = plan(size, algorithms=list(dict.fromkeys(algorithms)) or None)
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
        store = Store(kept)
        started = time.monotonic()
        run_tasks(tasks, work=work, store=store, workers=workers, report=report)
        done = [(cell, store.answers[task.key]) for cell, task in zip(cells, tasks, strict=True)]
        spent = sum(store.seconds[task.key] for task in tasks)
        if out is not None:
            write(Path(out), done, size=size, seconds=spent)
    found = lines(done)
    show_table(HEADERS, [line.cells() for line in found])
    for problem in [each for line in found for each in line.problems]:
        click.echo(f"FAILED {problem}")
    for each in weak(done):
        click.echo(f"weak attack: {each}")
    click.echo(f"{len(done)} cells in {time.monotonic() - started:.0f} s" + (f"; see {out}/report.html" if out else ""))
    if any(line.failed for line in found):
        raise click.exceptions.Exit(1)

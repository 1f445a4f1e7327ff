"""The commands of `covey bench`: the papers' experiments redone on public data."""

from __future__ import annotations

from pathlib import Path

import click


@click.group(invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Redo the experiments of the papers and print their statements next to what was measured."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@bench.command()
@click.option("--data", metavar="DIR", help="Folder of the data sets; COVEY_DATA says where by default.")
@click.option("--quick", is_flag=True, help="Small made-up data, few repeats: a check in under a minute.")
@click.option("--out", default="su16", show_default=True, metavar="DIR", help="Folder for JSON, CSV and PNG files.")
def su16(*, data: str | None, quick: bool, out: str) -> None:
    """The evaluation of Su et al. 2016: figures 1 to 7. Interrupt it at any time; the next call goes on."""
    from covey.bench.su16 import run
    from covey.terminal import progress_bar

    with progress_bar(show=True) as report:
        run(data=None if data is None else Path(data), out=Path(out), quick=quick, report=report, say=click.echo)

"""The commands of `covey bench`: the papers' experiments redone on public data."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from covey.bench.harness import Paper

Command = Callable[..., None]


DATA = click.option("--data", metavar="DIR", help="Folder of the data sets; COVEY_DATA says where by default.")


def usual_options(name: str) -> Callable[[Command], Command]:
    """The options of a paper's command: where its sets are, whether to be quick, and where its files go."""
    quick = click.option("--quick", is_flag=True, help="Small made-up data, few repeats: a check in under a minute.")
    out = click.option(
        "--out", default=name, show_default=True, metavar="DIR", help="Folder for JSON, CSV and PNG files."
    )
    return lambda command: DATA(quick(out(command)))


def redo(paper: Paper, *, data: str | None, quick: bool, out: str) -> None:
    from covey.terminal import progress_bar

    with progress_bar(show=True) as report:
        paper.run(data=None if data is None else Path(data), out=Path(out), quick=quick, report=report, say=click.echo)


@click.group(invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Redo the experiments of the papers and print their statements next to what was measured."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@bench.group(invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """The data sets of the benchmarks: where they come from, and getting those that can be got."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@data.command("list")
@DATA
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def list_data(*, data: str | None, as_json: bool) -> None:
    """Source, licence, checksum and public bounds of each file, and whether it is in the folder."""
    import json

    from covey.bench.data import fetch

    folder = data_here(data)
    rows = [
        {
            "set": each.file,
            "rows": each.count,
            "bounds": fetch.in_words(fetch.bounds_of(each.file)),
            "source": each.source,
            "licence": each.licence,
            "sha256": each.sha256,
            "rows_sha256": each.rows or None,
            "addresses": each.addresses,
            "here": fetch.state(each, folder),
        }
        for each in fetch.find(())
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for row in rows:
        got = "an address is known" if row["addresses"] else "no address is known"
        click.echo(f"{row['set']}: {row['rows']:,} rows, {row['here']}, {got}")
        for name in ("bounds", "source", "licence", "sha256"):
            click.echo(f"  {name:8} {row[name]}")


@data.command("fetch")
@click.argument("names", nargs=-1, metavar="SETS")
@DATA
def fetch_data(*, names: tuple[str, ...], data: str | None) -> None:
    """Get the sets of these names, or all that can be got, and write each whole or not at all.

    What is sent must have the checksum of the rows that results were made with; else nothing is written.
    """
    from covey.bench.data import fetch
    from covey.errors import DataError

    folder = data_here(data)
    if folder is None:
        raise click.UsageError("--data: name the folder that the sets go to, or set COVEY_DATA")
    wrong = False
    for source in fetch.find(names):
        try:
            click.echo(f"{source.file} {fetch.get(source, folder)}")
        except DataError as error:
            click.echo(str(error).removeprefix("data: "))
            wrong |= bool(names or source.addresses)
    if wrong:
        raise DataError("data: not every set could be got; the lines above say why")


def data_here(given: str | None) -> Path | None:
    """The folder of the sets, whether it exists or not; None if none is named."""
    named = given or os.environ.get("COVEY_DATA")
    return Path(named) if named else None


@bench.command()
@usual_options("su16")
def su16(**options: Any) -> None:
    """The evaluation of Su et al. 2016: figures 1 to 7. Interrupt it at any time; the next call goes on."""
    from covey.bench.su16.run import PAPER

    redo(PAPER, **options)


@bench.command()
@usual_options("ipsn17")
def ipsn17(**options: Any) -> None:
    """The evaluation of Feldman et al. 2017: figures 3 to 7. Interrupt it at any time; the next call goes on."""
    from covey.bench.ipsn17.run import PAPER

    redo(PAPER, **options)


@bench.command()
@usual_options("aaai21")
def aaai21(**options: Any) -> None:
    """The experiments of Nguyen et al. 2021: cost against k. Interrupt it at any time; the next call goes on."""
    from covey.bench.aaai21.run import PAPER

    redo(PAPER, **options)


@bench.command()
@usual_options("blocki21")
def blocki21(**options: Any) -> None:
    """The statements of Blocki et al. 2021 on samples and groups. Interrupt it at any time; the next call goes on."""
    from covey.bench.blocki21.run import PAPER

    redo(PAPER, **options)


def hard(*, data: str | None, quick: bool, out: str) -> None:
    """What is hard, after an option that has no meaning there was refused."""
    from covey.bench.hard.run import HOURS, PAPER

    context = click.get_current_context()
    for name in ("systems", "names", "levels", "runs", "delta", "objective", "param", "keep"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError("--suite hard is run as it is: only --data, --quick and --out are for it")
    if not quick:
        click.echo(HOURS)
    redo(PAPER, data=data, quick=quick, out=out)


@bench.command()
@click.option(
    "--system",
    "systems",
    multiple=True,
    default=("covey:auto",),
    show_default=True,
    metavar="SYSTEM",
    help="covey:ALGORITHM, diffprivlib, sklearn, or M:F, function F of module M. Repeatable.",
)
@click.option(
    "--suite",
    type=click.Choice(["usual", "hard"]),
    default="usual",
    show_default=True,
    help="hard: `auto` on what is hard, as it is; of the options only --data, --quick and --out are for it.",
)
@click.option("--sets", "names", default="", metavar="NAMES", help="Data sets, separated by commas; all by default.")
@click.option("--eps", "levels", default="", metavar="LIST", help="Values of ε: 0.1,0.5,1,2 by default.")
@click.option("--runs", type=int, metavar="N", help="Runs of each cell; 10 by default.")
@click.option("--delta/--pure", "delta", default=True, help="δ = n^-1.5 where the algorithm can use one, or pure ε.")
@click.option(
    "--objective",
    type=click.Choice(["k-means", "k-median"]),
    default="k-means",
    show_default=True,
    help="What the cost is: squared distances, or distances.",
)
@click.option("--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the algorithm. Repeatable.")
@click.option("--keep", is_flag=True, help="Use what other sources of Covey measured, too.")
@DATA
@click.option("--quick", is_flag=True, help="Small made-up data, few runs: a check in under a minute.")
@click.option("--out", default="utility", show_default=True, metavar="DIR", help="Folder for JSON, table and plot.")
def utility(
    *,
    systems: tuple[str, ...],
    suite: str,
    names: str,
    levels: str,
    runs: int | None,
    delta: bool,
    objective: str,
    param: tuple[str, ...],
    keep: bool,
    data: str | None,
    quick: bool,
    out: str,
) -> None:
    """Cost relative to ordinary k-means on public sets, next to the peers. SYSTEM is covey:ALGORITHM, diffprivlib,
    sklearn, or MODULE:FUNCTION, a function(X, k, epsilon, delta, bounds) -> centres; repeatable. Interrupt it at any
    time; the next call goes on."""
    if suite == "hard":
        hard(data=data, quick=quick, out=out)
        return
    from covey.bench.utility.run import Request, run
    from covey.cli.options import read_params
    from covey.terminal import progress_bar

    try:
        epsilons = tuple(float(each) for each in levels.split(",") if each.strip())
    except ValueError:
        raise click.UsageError("--eps: must be numbers separated by commas, such as 0.1,0.5,1") from None
    request = Request(
        systems=systems,
        names=tuple(each.strip() for each in names.split(",") if each.strip()),
        epsilons=epsilons,
        runs=runs,
        pure=not delta,
        objective=objective,
        parameters=read_params(param),
        quick=quick,
        keep=keep,
    )
    with progress_bar(show=True) as report:
        run(request, data=None if data is None else Path(data), out=Path(out), report=report, say=click.echo)


@bench.command()
@click.option("--sets", "names", default="", metavar="NAMES", help="Data sets, separated by commas; all by default.")
@click.option("--methods", default="", metavar="NAMES", help="Some of auto,levels,grid.")
@click.option("--fits", type=click.IntRange(1, 1000), metavar="N", help="Fits of a cell; 200 by default.")
@click.option("--reruns", type=click.IntRange(0, 1000), metavar="N", help="Of them run again; 60 by default.")
@click.option("--keep", is_flag=True, help="Go on with the sources of Covey that were measured last.")
@DATA
@click.option("--quick", is_flag=True, help="Small made-up data, few fits: a check in under a minute.")
@click.option("--out", default="coverage", show_default=True, metavar="DIR", help="Folder for JSON, CSV and PNG files.")
def coverage(
    *,
    names: str,
    methods: str,
    fits: int | None,
    reruns: int | None,
    keep: bool,
    data: str | None,
    quick: bool,
    out: str,
) -> None:
    """How often the errors that releases tell of themselves hold. Says first how long it takes; interrupt it at any
    time, and the next call goes on."""
    from covey.bench.coverage.run import run
    from covey.terminal import progress_bar

    limits: dict[str, Any] = {}
    for name, given in (("sets", names), ("methods", methods)):
        if given:
            limits[name] = tuple(each.strip() for each in given.split(",") if each.strip())
    limits |= {name: many for name, many in (("fits", fits), ("reruns", reruns)) if many is not None}
    folder = None if data is None else Path(data)
    with progress_bar(show=True) as report:
        run(data=folder, out=Path(out), quick=quick, limits=limits, keep=keep, report=report, say=click.echo)


@bench.command()
@click.option(
    "--parts",
    default="",
    metavar="NAMES",
    help="Some of fits,people,imports,ball,mnist,growth,sample,parquet,noise; what FILE holds of others stays.",
)
@click.option("--diffprivlib", is_flag=True, help="Time diffprivlib too, in an environment of its own.")
@DATA
@click.option("--quick", is_flag=True, help="Few rows: a check in under a minute.")
@click.option("--out", default="speed.json", show_default=True, metavar="FILE", help="Where the results go, as JSON.")
def speed(*, parts: str, diffprivlib: bool, data: str | None, quick: bool, out: str) -> None:
    """How long fits and noise take next to scikit-learn and other peers, in one run."""
    from covey.bench.speed.run import run
    from covey.cli.options import check_outputs

    check_outputs([out], inputs=[], force=True)
    run(
        data=None if data is None else Path(data),
        out=Path(out),
        quick=quick,
        parts=[each.strip() for each in parts.split(",") if each.strip()],
        with_diffprivlib=diffprivlib,
        say=click.echo,
    )

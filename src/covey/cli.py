"""The command line: commands only, no mathematics. Everything heavy is imported inside the command that needs it.

Every error is one line on stderr. Exit codes: 0 done; 2 refused (a wrong option, no budget, a damaged file); 1 a bug
in Covey; 130 interrupted; 141 the reader of the output went away.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covey import __version__
from covey.cli_bench import bench
from covey.cli_ledger import ledger
from covey.errors import CoveyError, DataError, ParameterError
from covey.options import check_axes, check_outputs, read_bounds, read_params
from covey.words import in_words, paragraph, printable, show_centres, show_table

if TYPE_CHECKING:
    from covey.budget.ledger import Ledger
    from covey.release import Release

OPTIONS = {  # what the command line calls the parameters of the library
    "n_clusters": "-k",
    "algorithm_params": "--param",
    "random_state": "--seed",
    **{
        name: f"--{name}" for name in ("epsilon", "delta", "bounds", "algorithm", "neighbours", "dataset", "lon", "lat")
    },
}
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=SETTINGS, invoke_without_command=True)
@click.version_option(__version__, prog_name="covey")
@click.pass_context
def cli(context: click.Context) -> None:
    """Differentially private clustering: centres that you can publish.

    \b
    Examples:
      covey demo
      covey fit trips.csv -k 5 --epsilon 1 --bounds lon=-74.1:-73.9,lat=40.7:40.9 --out release.json
      covey ledger init city.ledger --dataset trips --epsilon 3
      covey fit trips.csv -k 5 --epsilon 1 --bounds 0:1,0:1 --ledger city.ledger --dataset trips
      covey algorithms

    Every command explains itself: covey fit --help.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command(short_help="Find private centres of the rows of a CSV or Parquet file.")
@click.argument("data", metavar="DATA")
@click.option("-k", "k", type=int, required=True, metavar="K", help="Number of centres.")
@click.option("--epsilon", type=float, required=True, metavar="E", help="Privacy budget of this release; 0.1 to 3.")
@click.option(
    "--bounds",
    multiple=True,
    metavar="[NAME=]LOW:HIGH",
    help="Public range of a column, known without looking at the rows. Repeat it, or separate by commas. "
    "Only the columns named are used; ranges without names are for all columns, in their order.",
)
@click.option("--ball", type=float, metavar="RADIUS", help="Instead of --bounds: rows lie within RADIUS of the origin.")
@click.option("--delta", type=float, metavar="D", help="Exceptional chance, for algorithms that need one.")
@click.option("--algorithm", default="auto", show_default=True, metavar="NAME", help="See `covey algorithms`.")
@click.option("--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the algorithm. Repeatable.")
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace-one"]),
    default="add-remove",
    show_default=True,
    help="What is hidden: whether a person is in the data, or their values (the number of rows is then public).",
)
@click.option("--ledger", "ledger_file", metavar="FILE", help="Charge the budget kept in this ledger.")
@click.option("--dataset", metavar="NAME", help="The data set's name in the ledger and in the certificate.")
@click.option("--key", metavar="KEY", help="With --ledger: the same key and request again costs nothing.")
@click.option("--out", metavar="FILE", help="Write the release here, as JSON.")
@click.option("--geojson", metavar="FILE", help="Write the centres here, for a map.")
@click.option("--lon", metavar="NAME", help="With --geojson: the column that is the longitude.")
@click.option("--lat", metavar="NAME", help="With --geojson: the column that is the latitude.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Repeatable noise for tests: NOT PRIVATE.")
@click.option("--allow-seeded", is_flag=True, help="Let --out and --geojson write a release made with --seed.")
@click.option("--json", "as_json", is_flag=True, help="Print the release document and nothing else.")
@click.option("--quiet", is_flag=True, help="Print nothing (except the document, with --json).")
def fit(
    *,
    data: str,
    k: int,
    epsilon: float,
    bounds: tuple[str, ...],
    ball: float | None,
    delta: float | None,
    algorithm: str,
    param: tuple[str, ...],
    neighbours: str,
    ledger_file: str | None,
    dataset: str | None,
    key: str | None,
    out: str | None,
    geojson: str | None,
    lon: str | None,
    lat: str | None,
    seed: int | None,
    allow_seeded: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find K centres of the rows of DATA, a CSV or Parquet file, with differential privacy.

    \b
    Examples:
      covey fit trips.csv -k 5 --epsilon 1 --bounds lon=-74.1:-73.9 --bounds lat=40.7:40.9
      covey fit points.parquet -k 3 --epsilon 0.5 --bounds 0:1,0:1 --out release.json
      covey fit trips.csv -k 5 --epsilon 1 --bounds lon=-74.1:-73.9,lat=40.7:40.9 \\
          --ledger city.ledger --dataset trips --key monday --geojson centres.geojson
    """
    outputs = [path for path in (out, geojson) if path is not None]
    if seed is not None and outputs and not allow_seeded:
        raise click.UsageError(
            "--seed: a seeded release is not private; --allow-seeded writes it to a file all the same"
        )
    if quiet and not (outputs or as_json):
        raise click.UsageError("--quiet: without --out, --geojson or --json nothing would be left of the release")
    if ledger_file is not None and dataset is None:
        raise click.UsageError("--dataset: a ledger counts per data set; say which one this is")
    if key is not None and ledger_file is None:
        raise click.UsageError("--key: needs --ledger, where finished releases are kept")
    check_outputs(outputs, inputs=[path for path in (data, ledger_file) if path is not None])

    from covey.fitting import fit as fit_rows
    from covey.terminal import progress_bar

    domain = read_bounds(bounds, ball)
    if geojson is not None:
        check_axes(data, domain, lon=lon, lat=lat)
    book = open_ledger(ledger_file, key=key)
    seen = 0 if book is None else book.head.sequence
    with progress_bar(show=not quiet) as progress:
        release = fit_rows(
            data,
            k=k,
            epsilon=epsilon,
            delta=delta,
            bounds=domain,
            algorithm=algorithm,
            algorithm_params=read_params(param),
            neighbours=neighbours,
            ledger=book,
            dataset=dataset,
            random_state=seed,
            progress=progress,
        )
    problem = None
    try:
        if out is not None:
            release.save(out)
        if geojson is not None:
            save_json(geojson, release.to_geojson(lon=lon, lat=lat))
    except DataError as error:
        problem = error  # the budget is spent: what it bought goes to stdout rather than nowhere
    if as_json or problem is not None:
        print_bytes(release.to_json())
    elif not quiet:
        show_release(release)
        if book is not None and release.certificate.ledger is not None:
            show_charge(book, release, again=release.certificate.ledger.sequence <= seen)
        if outputs:
            print(f"Wrote {printable(', '.join(outputs))}.")
    if problem is not None:
        raise problem


def open_ledger(path: str | None, *, key: str | None) -> Ledger | None:
    if path is None:
        return None
    from covey.budget.ledger import Ledger

    book = Ledger.open(path)
    return book if key is None else book.with_key(key)


def show_release(release: Release) -> None:
    certificate = release.certificate
    chosen = certificate.parameters.get("chosen")
    algorithm = certificate.algorithm + (f" ({chosen})" if chosen else "")
    print(f"{release.objective} by {algorithm}: {len(release.centres)} centres to publish\n")
    show_centres(release)
    print(f"\n{paragraph(certificate.statement)}\n")


def show_charge(book: Ledger, release: Release, *, again: bool) -> None:
    from covey.budget.amounts import shown
    from covey.release import in_full

    certificate = release.certificate
    account = book.datasets()[certificate.dataset or ""]
    what = "This key was finished before: the stored release, at no cost."
    if not again:
        what = f"Charged epsilon {in_full(certificate.epsilon)} to data set {printable(repr(certificate.dataset))}."
    if account.remaining is not None and account.total is not None:
        what += f" Left: {shown(account.remaining.epsilon)} of {shown(account.total.epsilon)}."
    print(what)


def save_json(path: str, document: dict[str, Any]) -> None:
    from covey.storage import write_whole

    write_whole(path, (json.dumps(document, indent=2) + "\n").encode())


def print_bytes(content: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


@cli.command()
@click.option("--out", default="demo-output", show_default=True, metavar="DIR", help="Folder for the three files.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Repeatable noise: NOT PRIVATE.")
def demo(*, out: str, seed: int | None) -> None:
    """Cluster a made-up city of 200,000 people privately, and draw the map.

    Writes release.json, centres.geojson and map.png. The rows themselves are never written.
    """
    from covey.demo import run

    run(out, seed=seed)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def algorithms(*, as_json: bool) -> None:
    """List the algorithms: what each promises, where it runs, its parameters, its paper."""
    from covey.algorithms.registry import ALGORITHMS

    rows = [
        {
            "name": row.name,
            "summary": row.summary,
            "objectives": list(row.objectives),
            "guarantee": "epsilon" if row.guarantee == "pure" else "(epsilon, delta)",
            "neighbours": [str(each) for each in row.neighbours],
            "engines": list(row.engines),
            "parameters": row.parameters,
            "paper": row.paper,
        }
        for row in ALGORITHMS.values()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    show_table(list(rows[0]), [[in_words(value) for value in row.values()] for row in rows])


cli.add_command(ledger)
cli.add_command(bench)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; every way to fail ends in one line on stderr and an exit code."""
    if "_COVEY_COMPLETE" in os.environ:  # a shell asks for completions
        cli.main(prog_name="covey")
    debug = bool(os.environ.get("COVEY_DEBUG"))
    if not (debug or sys.warnoptions):
        warnings.simplefilter("ignore")
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        with cli.make_context("covey", list(sys.argv[1:] if arguments is None else arguments)) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:  # --help, --version
        sys.exit(done.exit_code)
    except click.ClickException as error:
        fail(error.format_message(), code=2)
    except ParameterError as error:
        name = OPTIONS.get(error.parameter, error.parameter)
        fail(name + str(error).removeprefix(error.parameter), code=2)
    except CoveyError as error:
        fail(str(error), code=2)
    except (KeyboardInterrupt, click.Abort):
        fail("interrupted; what was charged stays charged", code=130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at exit
        sys.exit(141)
    except Exception as error:
        if debug:
            print("COVEY_DEBUG is set: this traceback may hold private values.", file=sys.stderr)
            raise
        hint = "COVEY_DEBUG=1 shows the traceback, which may hold private values"
        fail(f"a bug in Covey: {type(error).__name__} in {place_of(error)}; {hint}", code=1)


def fail(message: str, *, code: int) -> None:
    print(f"covey: error: {printable(message)}", file=sys.stderr)
    sys.exit(code)


def place_of(error: BaseException) -> str:
    """The file and line of Covey where an error came up: public, unlike what its message may say."""
    package, place = Path(__file__).parent, "cli.py"
    trace = error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if package in file.parents:
            place = f"{file.relative_to(package).as_posix()}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


if __name__ == "__main__":
    main()

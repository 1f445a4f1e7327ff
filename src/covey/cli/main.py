"""The command line: commands only, no mathematics. Everything heavy is imported inside the command that needs it.

Every error is one line on stderr. Exit codes: 0 done; 2 refused (a wrong option, no budget, a damaged file); 1 a bug
in Covey, or a leak that `covey audit` found; 130 interrupted; 141 the reader of the output went away.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from covey import __version__
from covey.cli.assign import assign
from covey.cli.audit import audit
from covey.cli.bench import bench
from covey.cli.choose import read_k, read_k_range
from covey.cli.columns import columns
from covey.cli.complete import prepare
from covey.cli.coreset import coreset, query
from covey.cli.data import takes_data
from covey.cli.fit import check_picture, check_shared, make_release, publish, save, save_json
from covey.cli.group import group
from covey.cli.ledger import ledger
from covey.cli.options import Shared, promise_options, read_params, release_options
from covey.cli.plan import plan
from covey.cli.profile import profile
from covey.cli.score import score
from covey.cli.show import export, show
from covey.cli.studio import studio
from covey.cli.thin import thin
from covey.errors import CoveyError, LedgerError, ParameterError, PrivacyWarning, place_of
from covey.files import File
from covey.published.show import show_release
from covey.text import in_commands, in_words, printable, show_table

OPTIONS = {  # what the command line calls the parameters of the library
    "n_clusters": "-k",
    "algorithm_params": "--param",
    "method_params": "--param",
    "random_state": "--seed",
    "centres": "--centers",
    "alternatives": "--centers",
    "k": "-k",
    "m": "--reduce",
    "path": "--out",
    **{
        name: f"--{name}"
        for name in (
            *("epsilon", "delta", "bounds", "algorithm", "method", "objective", "neighbours", "dataset"),
            *("lon", "lat", "plot", "sample", "person", "zones", "engine", "key", "centers", "n"),
            *("basemap", "port", "host", "error", "extent", "allowed", "forbidden", "candidates", "fixed", "to"),
            *("against", "within", "clip", "speed"),
            *("missing", "scale", "format", "delimiter", "decimal", "encoding", "sheet", "geometry", "system"),
        )
    },
    "k_range": "--k-range",
    "rows_per_person": "--rows-per-person",
    "columns": "--columns",
    "public_centres": "--centers",
    "header_line": "--header-line",
    "size_error": "--size-error",
    "place_error": "--place-error",
}
GUARANTEES = {"pure": "epsilon", "approximate": "(epsilon, delta)", "either": "epsilon, or (epsilon, delta)"}
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=SETTINGS, invoke_without_command=True)
@click.version_option(__version__, prog_name="covey")
@click.pass_context
def cli(context: click.Context) -> None:
    """Differentially private clustering: centres that you can publish.

    \b
    Examples:
      covey demo
      covey columns trips.csv
      covey fit trips.csv -k 5 --epsilon 1 --bounds lon=-74.1:-73.9,lat=40.7:40.9 --out release.json
      covey ledger init city.ledger --dataset trips --epsilon 3
      covey fit trips.csv -k 5 --epsilon 1 --bounds 0:1,0:1 --ledger city.ledger --dataset trips
      covey coreset trips.csv --epsilon 1 --bounds lon=-74.1:-73.9,lat=40.7:40.9 --out coreset.parquet
      covey query coreset.parquet --centers sites.csv --objective k-median
      covey show release.json
      covey export release.json --to html --out report.html
      covey algorithms

    Every command explains itself: covey fit --help.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command(short_help="Find private centres of the rows of a file.")
@click.argument("data", metavar="DATA")
@click.option("-k", "k", required=True, metavar="K|auto", help="Number of centres; auto chooses it, privately.")
@click.option("--k-range", metavar="LEAST:MOST", help="With -k auto: the numbers to choose from; 2:20 by default.")
@promise_options
@click.option("--algorithm", default="auto", show_default=True, metavar="NAME", help="See `covey algorithms`.")
@click.option(
    "--objective",
    type=click.Choice(["k-means", "k-median"]),
    default="k-means",
    show_default=True,
    help="What centres are to keep small: squared distances, or distances.",
)
@click.option("--plot", metavar="FILE", help="Draw the centres here, as PNG: from the release alone.")
@click.option("--report", metavar="FILE", help="Write a page to print or send here, as HTML: from the release alone.")
@release_options
@takes_data
def fit(
    *,
    data: File,
    k: str,
    k_range: str | None,
    algorithm: str,
    objective: str,
    plot: str | None,
    report: str | None,
    **shared: Any,
) -> None:
    """Find K centres of the rows of DATA, a file, with differential privacy. - is standard input.

    \b
    Examples:
      covey fit trips.csv -k 5 --epsilon 1 --bounds lon=-74.1:-73.9 --bounds lat=40.7:40.9
      covey fit points.parquet -k 3 --epsilon 0.5 --bounds 0:1,0:1 --out release.json
      covey fit trips.csv -k 5 --epsilon 1 --bounds lon=-74.1:-73.9,lat=40.7:40.9 \\
          --ledger city.ledger --dataset trips --key monday --geojson centres.geojson
      covey fit trips.csv -k 5 --epsilon 1 --bounds 0:1,0:1 --plot map.png --report report.html
      covey fit trips.csv -k auto --k-range 2:12 --epsilon 1 --bounds 0:1,0:1
    """
    options = Shared(**shared)
    domain = check_shared(data, options, more_outputs=[plot, report])
    if plot is not None:
        check_picture(data, domain, options)
    parameters = read_params(options.param)
    if parameters.get("keep_synopsis") is True and options.out is None and not options.as_json:
        raise click.UsageError("--out: keep_synopsis is for a file; name one, or print all of it with --json")

    made = make_release(
        data,
        options,
        k=read_k(k),
        k_range=None if k_range is None else read_k_range(k_range),
        domain=domain,
        objective=objective,
        algorithm=algorithm,
        parameters=parameters,
    )
    release = made.release
    publish(
        made,
        options,
        files=[
            (options.out, lambda path: release.save(path)),
            (options.geojson, lambda path: save_json(path, release.to_geojson(lon=options.lon, lat=options.lat))),
            (plot, lambda path: save(path, release, "png", options)),
            (report, lambda path: save(path, release, "html", options)),
        ],
        document=release.to_json,
        show=lambda: show_release(release),
    )


@cli.command()
@click.option("--out", default="demo-output", show_default=True, metavar="DIR", help="Folder for the three files.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Repeatable noise: NOT PRIVATE.")
def demo(*, out: str, seed: int | None) -> None:
    """Cluster a made-up city of 200,000 people privately, and draw the map.

    Writes release.json, centres.geojson and map.png. The rows themselves are never written.
    """
    from covey.cli.demo import run

    run(out, seed=seed)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def algorithms(*, as_json: bool) -> None:
    """List the algorithms: what each promises, where it runs, its parameters, its paper.

    Those that installed packages offer are called PACKAGE/NAME, and are not Covey's own.
    """
    from covey.algorithms import outside
    from covey.algorithms.registry import ALGORITHMS, find

    found = list(ALGORITHMS.values())
    for name in outside.entries():
        try:
            found.append(find(name))
        except ParameterError as error:
            print(f"covey: warning: {printable(str(error))}", file=sys.stderr)
    rows = [
        {
            "name": row.name,
            "summary": row.summary,
            "objectives": list(row.objectives),
            "guarantee": GUARANTEES[row.guarantee],
            "neighbours": [str(each) for each in row.neighbours],
            "engines": list(row.engines),
            "parameters": row.parameters,
            "paper": row.paper,
            "by": f"{row.origin}, not Covey's own" if row.origin else "Covey",
        }
        for row in found
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    show_table(list(rows[0]), [[in_words(value) for value in row.values()] for row in rows])


COMMANDS = (
    assign,
    audit,
    columns,
    coreset,
    query,
    export,
    group,
    ledger,
    bench,
    plan,
    profile,
    score,
    show,
    studio,
    thin,
)
for command in COMMANDS:
    cli.add_command(command)


def by_option(message: str) -> str:
    """A message that begins with a parameter, or names a call, for people who know options and commands."""
    name, colon, problem = message.partition(":")
    return in_commands(OPTIONS.get(name, name) + colon + problem)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line on stderr, without the file and line it comes from."""
    print(f"covey: warning: {printable(by_option(str(message)))}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; every way to fail ends in one line on stderr and an exit code."""
    if "_COVEY_COMPLETE" in os.environ:  # a shell asks for completions
        prepare(cli)
        cli.main(prog_name="covey")
    debug = bool(os.environ.get("COVEY_DEBUG"))
    if not (debug or sys.warnoptions):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrivacyWarning)
        warnings.showwarning = show_warning
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        with cli.make_context("covey", list(sys.argv[1:] if arguments is None else arguments)) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:  # --help, --version
        sys.exit(done.exit_code)
    except click.ClickException as error:
        fail(explained(error), code=2)
    except LedgerError as error:  # begins with the name of a file, not of a parameter
        fail(in_commands(str(error)), code=2)
    except CoveyError as error:
        fail(by_option(str(error)), code=2)
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
        place = place_of(error, otherwise="cli.py")
        fail(f"a bug in Covey: {type(error).__name__} in {place}; {hint}", code=1)


def explained(error: click.ClickException) -> str:
    """What click says; of words left over also what they usually come from: a pattern that the shell replaced."""
    message, context = error.format_message(), getattr(error, "ctx", None)
    message = message.replace("a valid float", "a number, such as 0.5").replace("a valid integer", "a whole number")
    if message.startswith("Got unexpected extra argument") and context is not None and "data" in context.params:
        message += "; DATA is one file, a folder or a pattern in quotes, and ranges are joined by commas without spaces"
    return message


def fail(message: str, *, code: int) -> None:
    print(f"covey: error: {printable(message)}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()

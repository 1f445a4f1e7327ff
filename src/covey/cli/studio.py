"""The command `covey studio`: the map with a privacy slider, served to this machine."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from covey.cli.data import ONE_FILE, takes_data
from covey.cli.options import check_outputs, column_options, read_bounds, read_scale
from covey.errors import DataError, need
from covey.files import File
from covey.text import printable

if TYPE_CHECKING:
    from covey.studio.settings import Settings


@click.command(short_help="A map with a privacy slider, in the browser.")
@click.argument("data", required=False)
@click.option("--demo", is_flag=True, help="Open the made-up city of `covey demo` instead of data.")
@click.option(
    "--node",
    is_flag=True,
    help="Write a page instead, one file for a person's own track and zones, which needs no server: --out, or "
    "covey-node.html.",
)
@click.option(
    "--bounds", multiple=True, metavar="NAME=LOW:HIGH", help="Public range of each column of DATA, as for `covey fit`."
)
@click.option("--person", metavar="NAME", help="The column that says whose a row is. Without it, each row is a person.")
@click.option(
    "--rows-per-person",
    type=click.IntRange(1, 10**6),
    default=1,
    show_default=True,
    metavar="M",
    help="With --person: how many rows of a person count at most.",
)
@click.option("--zones", "zones_file", **ONE_FILE, help="GeoJSON polygons with a stricter level (property epsilon).")
@column_options[0]
@column_options[1]
@click.option("--ledger", "ledger_file", metavar="FILE", help="Charge the budget kept in this ledger.")
@click.option("--dataset", metavar="NAME", help="The data set's name in the ledger and in certificates.")
@click.option("--key", metavar="KEY", help="With --ledger: a look that was finished under this key is not paid again.")
@click.option("--out", metavar="DIR", help="Folder that publications go to; covey-published by default.")
@click.option("--force", is_flag=True, help="With --node: replace the page that is there already.")
@click.option("--basemap", metavar="FILE|URL|none", help="GeoJSON, a map style or PMTiles under the data, or none.")
@click.option(
    "--public", metavar="FILE", help="Rehearse on this public file, with the columns of DATA, instead of made-up rows."
)
@click.option("--lon", metavar="NAME", help="The column that is the longitude, if its name does not say it.")
@click.option("--lat", metavar="NAME", help="The column that is the latitude, if its name does not say it.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; any free one by default.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on: others may then ask.",
)
@click.option("--no-browser", is_flag=True, help="Print the address and do not open it.")
@click.option(
    "--upload-limit",
    type=click.IntRange(1, 10**6),
    default=1024,
    show_default=True,
    metavar="MB",
    help="Largest upload.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Repeatable noise for tests: NOT PRIVATE.")
@click.option("--allow-seeded", is_flag=True, help="Let a look made with --seed be published.")
@takes_data
@click.pass_context
def studio(
    context: click.Context,
    *,
    data: File | None,
    demo: bool,
    node: bool,
    ledger_file: str | None,
    no_browser: bool,
    force: bool,
    **options: Any,
) -> None:
    """See what each privacy level would publish of DATA, a file; choose one; publish it.

    Without DATA the page takes an upload. The address that is printed holds a secret token: whoever has it may use the
    studio. Stop it with Ctrl-C.

    \b
    Examples:
      covey studio --demo
      covey studio trips.csv --bounds lon=-74.1:-73.9,lat=40.7:40.9
      covey studio trips.csv --bounds lon=-74.1:-73.9,lat=40.7:40.9 --ledger city.ledger --dataset trips
      covey studio trips.csv --bounds lon=-74.1:-73.9,lat=40.7:40.9 --person driver --rows-per-person 5
      covey studio --node --out node.html
    """
    if node:
        others = [each.opts[0] for each in context.command.params if _given(context, each.name)]
        if others:
            raise click.UsageError(f"{others[0]}: --node writes a page for a person at home; leave the rest away")
        write_node(options["out"] or "covey-node.html", force=force, browser=not no_browser)
        return
    if force:
        raise click.UsageError("--force: replaces the page of --node; publications get folders of their own")
    options["out"] = options["out"] or "covey-published"
    if demo and data is not None:
        raise click.UsageError("--demo: opens a made-up city; leave DATA away, or --demo")
    if demo and options["person"] is not None:
        raise click.UsageError("--person: the made-up city has one row per person; leave it away, or --demo")
    if ledger_file is not None and options["dataset"] is None:
        raise click.UsageError("--dataset: a ledger counts per data set; say which one this is")
    if options["key"] is not None and ledger_file is None:
        raise click.UsageError("--key: needs --ledger, where finished looks are kept")
    if data is not None and not options["bounds"]:
        raise click.UsageError(
            "--bounds: the public range of each column is needed, such as lon=-74.1:-73.9,lat=40.7:40.9"
        )
    need("studio", "the studio")
    from covey.studio.serve import serve

    serve(make_settings(data, demo, ledger_file, **options), browser=not no_browser, say=say)


def _given(context: click.Context, name: str | None) -> bool:
    """Whether an option was given that has nothing to do with the page of a node."""
    source = context.get_parameter_source(name or "")
    return source is ParameterSource.COMMANDLINE and name not in ("node", "out", "force", "no_browser")


def write_node(path: str, *, force: bool, browser: bool) -> None:
    """The page of a node, as one file."""
    import webbrowser

    from covey.files import write_whole
    from covey.studio.node.page import make_page

    check_outputs([path], inputs=[], force=force)
    write_whole(path, make_page())
    click.echo(f"Wrote {printable(path)}: open it in a browser, or give it to people. It runs there and sends nothing.")
    if browser:
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(Path(path).absolute().as_uri())


def make_settings(
    data: File | None,
    demo: bool,
    ledger_file: str | None,
    *,
    bounds: tuple[str, ...],
    person: str | None,
    rows_per_person: int,
    zones_file: str | None,
    basemap: str | None,
    out: str,
    upload_limit: int,
    public: str | None = None,
    scale: tuple[str, ...] = (),
    **options: Any,
) -> Settings:
    """Everything that can be wrong is found here, before the browser opens."""
    from covey.public import Person
    from covey.studio.serve import read_basemap, read_document
    from covey.studio.settings import Limits, Settings

    given: dict[str, Any] = {"bounds": read_bounds(bounds, None) if bounds else None}
    if demo:
        from covey.cli.demo import BOX, make_city

        given = {"data": make_city(), "bounds": BOX, "name": "a made-up city"}
    elif data is not None:
        given |= {"data": data, "name": printable(Path(data).name)}
    if ledger_file is not None:
        from covey.budget.ledger.ledger import Ledger

        given["ledger"] = Ledger.open(ledger_file)
    return Settings(
        **given,
        **options,
        demo=demo,
        person=Person(person, rows_per_person),
        zones=None if zones_file is None else read_document("zones", zones_file),
        basemap=read_basemap(basemap),
        public=public,
        public_name="" if public is None else printable(Path(public).name),
        out=usable_folder(out),
        scale=read_scale(scale),
        limits=Limits(upload=upload_limit * 2**20),
    )


def usable_folder(path: str) -> Path:
    """A folder that publications can be written to, or made: found out before a look is paid for."""
    folder = Path(path).absolute()
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        raise DataError(f"out: {path!r} cannot be the folder of publications: choose one that you may write to")
    return Path(path)


def say(settings: Settings, link: str) -> None:
    """The addresses, and what it means that somebody has them."""
    click.echo(f"Covey studio: {link}")
    click.echo(f"It opens once. For programs, as often as they ask: {settings.address}")
    click.echo("Whoever has these addresses may use the studio. Press Ctrl-C to stop it.")
    if not settings.is_loopback:
        click.echo(
            "It listens beyond this machine, and what is sent is not encrypted: an SSH tunnel to 127.0.0.1 is safer."
        )
    if settings.seed is not None:
        click.echo("--seed: the noise can be repeated, so nothing here is private.")

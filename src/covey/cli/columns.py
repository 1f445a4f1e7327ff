"""The command `covey columns`: what there is to write bounds for. It reads no row, and so costs nothing."""

from __future__ import annotations

import json

import click

from covey.cli.data import takes_data
from covey.files import File
from covey.text import printable, show_table


@click.command(short_help="Show the names of the columns of a file, without reading a row.")
@click.argument("data", metavar="DATA")
@click.option("--json", "as_json", is_flag=True, help="Print names and types as JSON.")
@takes_data
def columns(*, data: File, as_json: bool) -> None:
    """Show the columns of DATA, and their types where a schema holds them (not of CSV, JSON and sheets).

    Only headers and schemas are read: it costs nothing. Bounds are what you know of a column, not what is in it. Of a
    column of dates, hour(NAME)=0:24 and weekday(NAME)=0:7 may be bounds.

    \b
    Examples:
      covey columns trips.parquet
      covey columns trips.csv --delimiter ';' --header-line 3
      zcat trips.csv.gz | covey columns -
    """
    from covey.private.tables.files import open_file

    schema = open_file(data).schema()
    if as_json:
        click.echo(json.dumps([{"name": name, "type": kind} for name, kind in schema], indent=2))
        return
    show_table(["column", "type"], [[printable(name), kind or "not known before the rows"] for name, kind in schema])

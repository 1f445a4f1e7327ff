"""DATA on the command line: the options that say how a file is to be read, and standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from covey.errors import DataError
from covey.files import File

OPTIONS = (
    click.option("--format", metavar="NAME", help="What DATA is, if its ending does not say it: csv, tsv, jsonl, ..."),
    click.option(
        "--delimiter", metavar="SIGN", help="Of a CSV: what stands between cells. By default the header line tells it."
    ),
    click.option("--decimal", metavar="SIGN", help="Of a CSV: the decimal sign of numbers, . or a comma."),
    click.option(
        "--header-line", type=int, metavar="N", help="The line with the names of the columns; those above are skipped."
    ),
    click.option("--encoding", metavar="NAME", help="Of text: utf-8 if not given; utf-16, cp1252, latin-1."),
    click.option("--sheet", metavar="NAME", help="The sheet of a workbook, or the layer of a GeoPackage."),
    click.option("--geometry", metavar="NAME", help="A column of points (WKT or WKB), to be read as lon and lat."),
)
NAMES = ("format", "delimiter", "decimal", "header_line", "encoding", "sheet", "geometry")


def once(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> str | None:  # noqa: ARG001
    """The one file of an option, of which click would take the last and forget the others."""
    if len(given) > 1:
        raise click.UsageError(f"{option.opts[0]}: is given {len(given)} times; put all into one file")
    return given[0] if given else None


ONE_FILE: dict[str, Any] = {"metavar": "FILE", "multiple": True, "callback": once}  # of an option


def takes_data(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose DATA comes with how it is to be read: as a `File`, or None where it was left away."""

    @wraps(command)
    def run(*, data: str | None, **options: Any) -> Any:
        told = {name: value for name in NAMES if (value := options.pop(name)) is not None}
        if data is None and told:
            raise click.UsageError(f"--{next(iter(told)).replace('_', '-')}: says how DATA is to be read; name it")
        return command(data=None if data is None else source(data, told), **options)

    for option in reversed(OPTIONS):
        run = option(run)
    return run


def source(data: str, told: Mapping[str, Any]) -> File:
    """The file that is meant; standard input becomes one, of which nothing is looked at."""
    if data != "-":
        return File(data, **told)
    context = click.get_current_context()
    folder = context.with_resource(tempfile.TemporaryDirectory(prefix="covey-"))
    return File(copied(Path(folder), str(told.get("format", "csv"))), **told)


def copied(folder: Path, ending: str) -> str:
    """Standard input as a file that can be read again: rows are read several times, and only after the charge."""
    if sys.stdin.isatty():
        raise click.UsageError("-: reads standard input, and this is a terminal: pipe a file into it, or name one")
    path = folder / f"standard-input.{ending.lstrip('.')}"
    try:
        with path.open("xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    except OSError as error:
        what = error.strerror or "input/output error"
        raise DataError(f"data: standard input could not be kept for the passes over it: {what}") from None
    return str(path)

"""What the options of the command line mean, and what is refused before any budget is spent. All of it public."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covey.cli.data import ONE_FILE
from covey.errors import DataError, ParameterError

if TYPE_CHECKING:
    from covey.budget.ledger.ledger import Ledger
    from covey.files import File
    from covey.public import Ball, Box

Command = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """The options that every command which makes a release has, as they were given."""

    epsilon: float
    bounds: tuple[str, ...]
    ball: float | None
    delta: float | None
    param: tuple[str, ...]
    neighbours: str
    person: str | None
    rows_per_person: str
    zones: str | None
    sample: str | None
    missing: str
    scale: tuple[str, ...]
    errors: str
    engine: str
    master: str | None
    ledger_file: str | None
    convert: bool
    dataset: str | None
    key: str | None
    out: str | None
    geojson: str | None
    lon: str | None
    lat: str | None
    seed: int | None
    allow_seeded: bool
    as_json: bool
    quiet: bool
    force: bool


def forced(command: Command) -> Command:
    """The option without which no file is replaced."""
    return click.option("--force", is_flag=True, help="Replace files that are there already.")(command)


column_options = (
    click.option(
        "--missing",
        type=click.Choice(["middle", "drop"]),
        default="middle",
        show_default=True,
        help="Move missing values to the middle of their range, or drop their rows (under add-remove).",
    ),
    click.option(
        "--scale",
        multiple=True,
        metavar="NAME=TIMES",
        help="How many times the distance in a column counts, such as age=2. Repeatable.",
    ),
)


def promise_options(command: Command) -> Command:
    """What is promised, about which columns."""
    for option in reversed(
        (
            click.option(
                "--epsilon", type=float, required=True, metavar="E", help="Privacy budget of this release; 0.1 to 3."
            ),
            click.option(
                "--bounds",
                multiple=True,
                metavar="[NAME=]LOW:HIGH",
                help="Public range of a column, known without looking at the rows; NAME=private finds one, within "
                "epsilon. Repeat it, or separate by commas. Only the columns named are used; ranges without names are "
                "for all columns, in their order.",
            ),
            click.option(
                "--ball",
                type=float,
                metavar="RADIUS",
                help="Instead of --bounds: rows lie within RADIUS of the origin.",
            ),
            click.option("--delta", type=float, metavar="D", help="Delta of the promise, for algorithms that use one."),
        )
    ):
        command = option(command)
    return command


def release_options(command: Command) -> Command:
    """How it is made, what it is charged to, and where it goes."""
    for option in reversed(
        (
            click.option(
                "--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the algorithm. Repeatable."
            ),
            click.option(
                "--neighbours",
                type=click.Choice(["add-remove", "replace-one"]),
                default="add-remove",
                show_default=True,
                help="What is hidden: whether a person is in the data, or their values (the number of rows is then "
                "public).",
            ),
            click.option(
                "--person",
                metavar="NAME",
                help="The column that says whose a row is. Without it, each row is a person.",
            ),
            click.option(
                "--rows-per-person",
                default="1",
                show_default=True,
                metavar="M|auto",
                help="With --person: how many rows of a person count at most; auto chooses privately.",
            ),
            click.option(
                "--zones",
                **ONE_FILE,
                help="GeoJSON polygons with a property epsilon, stricter than --epsilon: their rows are promised more.",
            ),
            click.option(
                "--sample",
                metavar="RATE|SIZE|auto",
                help="Fit a random sample: 0.01 of the rows, or 100000 of them, or as many as 5% of error allow. "
                "Epsilon holds for all rows.",
            ),
            *column_options,
            click.option(
                "--errors",
                type=click.Choice(["quick", "full", "none"]),
                default="quick",
                show_default=True,
                help="What the release says of its own errors, for nothing: of sizes and costs; of places too, which "
                "takes some seconds; or nothing.",
            ),
            click.option(
                "--engine",
                type=click.Choice(["auto", "memory", "files", "spark"]),
                default="auto",
                show_default=True,
                help="Where rows are worked on: in memory, streamed from files, or by Spark.",
            ),
            click.option("--master", metavar="URL", help="With --engine spark: the cluster, such as local[2]."),
            click.option("--ledger", "ledger_file", metavar="FILE", help="Charge the budget kept in this ledger."),
            click.option(
                "--convert",
                is_flag=True,
                help="With --ledger: charge a fit of another type, or with other zones, at its proven price.",
            ),
            click.option("--dataset", metavar="NAME", help="The data set's name in the ledger and in the certificate."),
            click.option("--key", metavar="KEY", help="With --ledger: the same key and request again costs nothing."),
            click.option("--out", metavar="FILE", help="Write the result here."),
            click.option("--geojson", metavar="FILE", help="Write the points here, for a map."),
            forced,
            click.option("--lon", metavar="NAME", help="With --geojson or --zones: the column that is the longitude."),
            click.option("--lat", metavar="NAME", help="With --geojson or --zones: the column that is the latitude."),
            click.option(
                "--seed", type=click.IntRange(min=0), metavar="N", help="Repeatable noise for tests: NOT PRIVATE."
            ),
            click.option("--allow-seeded", is_flag=True, help="Let files be written of a release made with --seed."),
            click.option("--json", "as_json", is_flag=True, help="Print the document and nothing else."),
            click.option("--quiet", is_flag=True, help="Print nothing (except the document, with --json)."),
        )
    ):
        command = option(command)
    return command


def read_bounds(bounds: Sequence[str], ball: float | None) -> Box | Ball:
    """`lon=-74.1:-73.9,lat=40.7:40.9` or `0:1,0:1`, in one option or several."""
    from covey.geo.clock import KINDS
    from covey.public import Ball, Box

    if (ball is None) == (not bounds):
        what = "give one of them, not both" if bounds else "the public range of each column is needed"
        raise click.UsageError(f"--bounds, --ball: {what}, such as --bounds lon=-74.1:-73.9,lat=40.7:40.9")
    if ball is not None:
        return Ball(ball)
    named: dict[str, Sequence[float]] = {}
    by_position = []
    for part in split_ranges(bounds):
        name, equals, ends = part.rpartition("=")
        low, _, high = ends.partition(":")
        try:
            pair = (float(low), float(high))
        except ValueError:
            such = next((f"{part}=0:{end}" for kind, (end, _) in KINDS.items() if part.startswith(f"{kind}(")), None)
            forms = f"NAME=LOW:HIGH, such as {such or 'lon=-74.1:-73.9'}, or NAME=private"
            raise ParameterError("bounds", f"{part!r} is not of the form {forms}") from None
        if name in named:
            raise ParameterError("bounds", f"names {name!r} twice")
        if equals:
            named[name] = pair
        else:
            by_position.append(pair)
    if named and by_position:
        raise ParameterError("bounds", "give all ranges with a column name, or none")
    return Box.of(named) if named else Box(*by_position)


def read_scale(scale: Sequence[str]) -> dict[str, float] | None:
    """`age=2` for each column that is to count more, or less."""
    found: dict[str, float] = {}
    for assignment in scale:
        name, _, times = assignment.rpartition("=")
        try:
            number = float(times)
        except ValueError:
            name = ""
        if not name or name in found:
            raise ParameterError("scale", f"{assignment!r} is not of the form NAME=TIMES, such as age=2, once a column")
        found[name] = number
    return found or None


def split_ranges(bounds: Sequence[str]) -> list[str]:
    """Ranges are separated by commas; a piece without a range is the beginning of a column name with a comma in it."""
    ranges = []
    for option in bounds:
        waiting = ""
        for piece in option.split(","):
            waiting += piece
            if ":" in piece or piece.endswith("=private"):
                ranges.append(waiting)
                waiting = ""
            else:
                waiting += ","
        if waiting:
            ranges.append(waiting.rstrip(","))
    return ranges


def read_params(params: Sequence[str]) -> dict[str, Any]:
    """`rounds=7` and `start=uniform` as parameters of an algorithm: numbers, true or false, or words."""
    values: dict[str, Any] = {}
    for assignment in params:
        name, equals, text = assignment.partition("=")
        if not (name and equals and text):
            raise ParameterError("algorithm_params", f"{assignment!r} is not of the form NAME=VALUE, such as rounds=7")
        if name in values:
            raise ParameterError("algorithm_params", f"names {name!r} twice")
        values[name] = read_value(text)
    return values


def read_value(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def zones_in_file(path: str | None, *, lon: str | None, lat: str | None) -> Any:
    """The zones in a GeoJSON file; their polygons are in the columns of longitude and latitude."""
    if path is None:
        return None
    from covey.fit.zones import Zones

    return Zones.read(path, lon=lon, lat=lat)


def read_sample(text: str | None) -> float | int | str | None:
    """`0.01` is a rate, `100000` a size, `auto` and `auto:0.02` are left to the library."""
    value = None if text is None else read_value(text)
    if isinstance(value, bool):
        raise ParameterError("sample", "must be a rate such as 0.01, a whole number of rows, or auto")
    return value


def read_rows_per_person(text: str) -> int | str:
    """`3` is a number of rows; `auto` and `auto:0.8` are left to the library."""
    return int(text) if text.isdecimal() and len(text) < 10 else text


def check_outputs(
    outputs: Sequence[str],
    *,
    inputs: Sequence[str],
    force: bool = False,
    there: str = "--force replaces it, or give another name",
) -> None:
    """Refuse a file that cannot be written, or would replace an input or what is there, before any budget is spent.

    there : what to say of a file that is there already, if it is not to be replaced by `force`.
    """
    import tempfile

    taken: list[Path] = []
    if inputs:  # without any, nothing of numpy is needed
        from covey.private.tables.folders import lies_among, meant_by

        taken = [place.resolve() for path in inputs for place in meant_by(path)]
    for path in outputs:
        target = Path(path).resolve()
        among = any(place in target.parents for place in taken if place.is_dir())
        if among or any(lies_among(target, pattern) for pattern in inputs):
            raise DataError(f"out: {path!r} would lie among the data, and be read as such; choose another folder")
        if target in taken:
            raise DataError(f"out: {path!r} is another file of this command; choose a name of its own")
        taken.append(target)
        if not target.parent.is_dir():
            raise DataError(f"out: there is no folder {str(target.parent)!r} to write {path!r} to")
        if target.exists() and not target.is_file():
            raise DataError(f"out: {path!r} is not an ordinary file")
        if target.exists() and not force:
            raise DataError(f"out: {path!r} is there already; {there}")
        try:
            tempfile.TemporaryFile(dir=target.parent).close()
        except OSError as error:
            raise DataError(f"out: cannot write {path!r}: {error.strerror or 'input/output error'}") from None


def files_of(book: Ledger) -> list[str]:
    """What no output may replace: the file of a ledger, its anchor, and what SQLite and the anchor keep beside them."""
    anchor = book.entries()[0].anchor
    beside = [] if anchor is None else [anchor, f"{anchor}.lock", f"{anchor}.new"]
    return [f"{book.path}{rest}" for rest in ("", "-journal", "-wal", "-shm")] + beside


def check_axes(data: File, bounds: Box | Ball, *, lon: str | None, lat: str | None) -> None:
    """Refuse a map of columns that are not longitude and latitude, before any budget is spent."""
    from covey.geo.geojson import find_axes
    from covey.private.tables.frames import open_table

    find_axes(bounds.columns or open_table(data).names or (), lon, lat)

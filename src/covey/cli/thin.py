"""`covey thin`: a person thins their own track by their own zones, at home, before it is sent to anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from covey.cli.data import ONE_FILE, takes_data
from covey.cli.options import check_outputs
from covey.errors import DataError, NotNumericError
from covey.text import in_commands, paragraph, plain, printable, show_table

if TYPE_CHECKING:
    from covey.files import File
    from covey.fit.node import Upload

TIMES = (0.5, 1, 2, 5)  # of --epsilon: for what else the collector may release
POINTS = (".gpx", ".geojson", ".json")  # files that hold nothing but places
ONE_UPLOAD = "every run throws new coins, and whoever chooses among several, or sends them all, breaks the promise"
ELSEWHERE = (
    "If one should, longitude and latitude may be exchanged, in the zones or in the columns: GeoJSON has the longitude "
    "first. Do not send this upload then."
)
FORCED = "If it was not sent, and it is not for what its coins did, --force replaces it"


@click.command(short_help="Keep rows of your own zones at home, before you send a track.")
@click.argument("data", metavar="TRACK")
@click.option(
    "--zones",
    required=True,
    **ONE_FILE,
    help="Your own GeoJSON polygons, each with a property epsilon, stricter than --epsilon. It stays at home.",
)
@click.option(
    "--epsilon",
    type=float,
    required=True,
    metavar="E",
    help="Of all that the collector will release from the rows, together.",
)
@click.option("--out", required=True, metavar="FILE", help="The CSV file that you send. It must not be there yet.")
@click.option("--lon", metavar="NAME", help="The column that is the longitude, if its name does not say it.")
@click.option("--lat", metavar="NAME", help="The column that is the latitude, if its name does not say it.")
@click.option("--force", is_flag=True, help="Replace --out, which was not sent, and not for what its coins did.")
@takes_data
def thin(*, data: File, zones: str, epsilon: float, out: str, lon: str | None, lat: str | None, force: bool) -> None:
    """Write the rows of TRACK that may leave: those in your zones are kept by coins, all others always.

    TRACK is your own: a CSV, Parquet or Arrow file, GeoJSON points or a GPX track. Rows are sent whole, as they are.

    \b
    Example:
      covey thin track.csv --zones mine.geojson --epsilon 1 --out upload.csv
    """
    if not out.lower().endswith(".csv"):
        raise click.UsageError("--out: what is sent is a CSV file; let its name end in .csv")
    track = str(data.path)
    check_outputs([out], inputs=[track, zones], force=force, there=f"{ONE_UPLOAD}. {FORCED}")

    from covey.files import write_whole
    from covey.fit.node import thin_file

    nowhere = DataError("data: no point has a place; of GeoJSON points are read, not lines or areas")
    try:
        upload = thin_file(data, zones, epsilon=epsilon, lon=lon, lat=lat)
    except NotNumericError as error:
        if track.lower().endswith(POINTS):
            raise nowhere from None
        raise click.UsageError(in_commands(f"--lon, --lat: {str(error).partition(': ')[2]}")) from None
    if upload.unplaced == upload.rows > 0 and track.lower().endswith(POINTS):
        raise nowhere
    write_whole(out, upload.content)
    show(upload, epsilon=epsilon, out=out, zones=zones)


def show(upload: Upload, *, epsilon: float, out: str, zones: str) -> None:
    """What its sender may know of it, and what they should."""
    stay = upload.rows - upload.sent
    click.echo(f"Rows: {upload.rows:,} read, {upload.sent:,} in {printable(out)}, {stay:,} stay at home.")
    if upload.unplaced:
        click.echo(f"Without a place on the map (no numbers, or no degrees), so never sent: {upload.unplaced:,}.")
    click.echo()
    show_table(
        ["zone", "epsilon", "rate", "rows", "leave"],
        [
            [
                ", ".join(each.names),
                f"{float(each.epsilon):.12g}",
                f"{each.words / 2**64:.4g}",
                f"{each.rows:,}",
                each.sent,
            ]
            for each in upload.shares
        ],
        right=(1, 2, 3, 4),
    )
    if upload.empty:
        click.echo("\n" + paragraph(f"No row lies in {', '.join(upload.empty)}. {ELSEWHERE}"))
    click.echo("\nThe epsilon that is promised to one row, by that of all releases together:")
    totals = [times * epsilon for times in TIMES]
    show_table(
        ["zone", *(f"{total:.12g}" for total in totals)],
        [
            *(
                [", ".join(each.names), *(plain(each.promised(total), up=True) for total in totals)]
                for each in upload.shares
            ),
            ["elsewhere", *(f"{total:.12g}" for total in totals)],
        ],
        right=range(1, len(totals) + 1),
    )
    for words in (
        f"{out} holds raw rows, for the collector: whoever receives it can read them, with all their columns, those of "
        "your zones that leave too, and may guess from a gap where a zone lies. The promise is about what is published "
        "from it later, with differential privacy for adding or removing a row; it is for each row alone, and the rows "
        "of one person in a zone add up. A delta is promised times the rate.",
        f"Send one upload only: {ONE_UPLOAD}. Keep {zones} at home.",
    ):
        click.echo("\n" + paragraph(words))

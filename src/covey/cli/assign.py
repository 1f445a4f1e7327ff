"""`covey assign`: one's own rows with the number of their nearest centre. What it writes is private, and no release."""

from __future__ import annotations

from os import fspath

import click

from covey.cli.about import read_release
from covey.cli.data import takes_data
from covey.cli.options import check_outputs
from covey.files import File
from covey.text import paragraph, printable

PRIVATE = (
    "PRIVATE: {out} holds your rows as they are, each with its centre. It is no release: nothing in it is noisy, no "
    "promise covers it, and so nothing was charged. Keep it like the data itself; what was published is the release."
)


@click.command(short_help="Your own rows with their nearest centre: a PRIVATE file, no release.")
@click.argument("release", metavar="RELEASE")
@click.argument("data", metavar="DATA")
@click.option("--out", required=True, metavar="FILE", help="The CSV file to write. It is as private as DATA.")
@click.option("--force", is_flag=True, help="Replace --out if it is there already; never DATA.")
@takes_data
def assign(*, release: str, data: File, out: str, force: bool) -> None:
    """Write the rows of DATA, your own, with the number of the nearest centre of RELEASE in a column `centre`.

    THE FILE IS PRIVATE: it holds the rows themselves, without noise. It is no release, must not be published, and
    costs no budget because nothing is released. Rows outside the bounds are moved to their edge to find the centre, as
    the fit does; a row in which a number is missing has none.

    \b
    Example:
      covey assign release.json trips.csv --out assigned.csv
    """
    if not out.lower().endswith(".csv"):
        raise click.UsageError("--out: what is written is a CSV file; let its name end in .csv")
    check_outputs([out], inputs=[release, fspath(data)], force=force)

    from covey.fit.assign import assign_file

    assign_file(read_release(release), data, out)
    click.echo(paragraph(PRIVATE.format(out=printable(out))), err=True)

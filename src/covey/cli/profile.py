"""`covey profile`: what is in the clusters of a release, for an epsilon of its own."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from covey.cli.about import Asked, ask, question_options, read_release
from covey.cli.data import takes_data
from covey.files import File


@click.command(short_help="What is in the clusters of a release: noisy shares of other columns.")
@click.argument("release", metavar="RELEASE")
@click.argument("data", metavar="DATA")
@click.option(
    "--columns",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="A column with its categories (mode=bike|car|walk; mode=private finds them, with --delta), its public range "
    "(age=0:120; age=0:120:12 has 12 bins), or a clock (hour(when), weekday(when)). Repeat it, or separate by commas.",
)
@click.option("--epsilon", type=float, required=True, metavar="E", help="Privacy budget of the whole profile.")
@click.option("--delta", type=float, metavar="D", help="For private categories only: well below 1 in the rows.")
@question_options
@takes_data
def profile(*, release: str, data: File, columns: tuple[str, ...], delta: float | None, **asked: Any) -> None:
    """Say what is in the clusters of RELEASE, by the rows of DATA, with differential privacy.

    Every column is counted in cells that you declare, per cluster, with noise; all columns share --epsilon, which adds
    to what the release cost. What stands out against the whole is said first. What you do not declare is "other"; a
    private column has the categories that many rows have, is asked about twice, and so counts as two.

    \b
    Examples:
      covey profile release.json trips.csv --columns "mode=bike|car|walk,age=0:120" --epsilon 0.5
      covey profile release.json trips.csv --columns "hour(when)" --epsilon 0.2 --plot hours.png --out profile.json
      covey profile release.json trips.csv --columns "shop=private" --epsilon 0.5 --delta 1e-6
      covey profile release.json trips.csv --columns "mode=bike|car" --epsilon 0.5 --ledger city.ledger --dataset trips
    """
    from covey.fit.profile import make_profile
    from covey.published.profile.words import show_profile

    listed = [each for option in columns for each in option.split(",")]
    make = partial(make_profile, read_release(release), columns=listed, delta=delta)
    ask([release], data, Asked(**asked), make=make, show=show_profile)

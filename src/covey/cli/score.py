"""`covey score`: how good the centres of a release are; for nothing where the release tells it, else for an epsilon."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from covey.cli.about import Asked, ask, question_options, read_release
from covey.cli.data import takes_data
from covey.files import File
from covey.text import listing, paragraph, show_table


@click.command(short_help="How good the centres of a release are: cost, distances, shares, with intervals.")
@click.argument("release", metavar="RELEASE")
@click.argument("data", metavar="DATA", required=False)
@click.option("--epsilon", type=float, metavar="E", help="Privacy budget of all scores together; needed with DATA.")
@click.option("--against", multiple=True, metavar="RELEASE", help="Another release, on the same rows. Repeatable.")
@click.option("--centers", metavar="FILE", help="Centres that you declare public: CSV, JSON or GeoJSON.")
@click.option("--within", type=float, metavar="R", help="What share of the rows is within this distance of a centre.")
@click.option("--clip", type=float, metavar="R", help="Rows that are farther count as that far: less noise.")
@question_options
@takes_data
def score(
    *,
    release: str,
    data: File | None,
    against: tuple[str, ...],
    centers: str | None,
    within: float | None,
    clip: float | None,
    **asked: Any,
) -> None:
    """Say how good the centres of RELEASE are, by the rows of DATA, with differential privacy.

    Without DATA, what the release tells of itself, for nothing. With it, all scores come from one question, also of
    several releases (--against): --epsilon adds to what they cost.

    \b
    Examples:
      covey score release.json
      covey score release.json trips.csv --epsilon 0.1 --within 500
      covey score release.json trips.csv --epsilon 0.2 --against other.json --plot distances.png
    """
    found, options = read_release(release), Asked(**asked)
    if data is None:
        if options.epsilon is not None or against or centers or within or clip or options.out or options.plot:
            raise click.UsageError("DATA: is needed for these options; without it only what the release tells is shown")
        show_free(found, as_json=options.as_json)
        return
    if options.epsilon is None:
        raise click.UsageError("--epsilon: a question to the rows has a price; without DATA it is free")
    from covey.fit.score import make_score
    from covey.published.centres import read_centres
    from covey.published.score.words import show_score

    names = [Path(each).stem for each in against]
    if len(set(names)) < len(names):
        raise click.UsageError("--against: files need different names, by which they are told apart")
    make = partial(
        make_score,
        found,
        against=dict(zip(names, map(read_release, against), strict=True)),
        public_centres=None if centers is None else read_centres(centers, found.columns),
        within=within,
        clip=clip,
    )
    inputs = [release, *against, *([] if centers is None else [centers])]
    ask(inputs, data, options, make=make, show=show_score)


def show_free(release: Any, *, as_json: bool) -> None:
    """What a release tells of itself."""
    from covey.cli.answers import BRACKET
    from covey.post.errors.quantiles import LEVEL
    from covey.published.score.free import of_points, with_reasons
    from covey.published.sentences import often

    found, why = with_reasons(release)
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    rows = [
        [name, *("not told" if each is None else f"{each:.4g}" for each in told or [None] * 3)]
        for name, told in found.items()
    ]
    for row in rows:
        if row[0] == "separation" and found["separation"] is not None:  # between published places: no noise is in it
            row[2:] = ["exact", "exact"]
    show_table(["", "score", "from", "to"], rows, right=range(1, 4))
    told = any(each is not None and None not in each for each in found.values())
    ends = (BRACKET if of_points(release) else f"Intervals hold {often(LEVEL)}.") if told else ""
    click.echo(f"\n{paragraph(f'{FREE} {ends}')}")
    for reason in dict.fromkeys(why.values()):
        names = [name for name, each in why.items() if each == reason]
        known = ", or have no interval" if any(found[name] is not None for name in names) else ""
        click.echo(f"\n{paragraph(f'Not told{known}: {listing(names)}. {reason[:1].upper()}{reason[1:]}.')}")
    if asked := [name for name in why if name != "separation"]:
        parts = (release.certificate, *release.certificate.leaves())
        zones, seeded = any("zones" in each.parameters for each in parts), any(each.seeded for each in parts)
        command = f"covey score RELEASE DATA --epsilon 0.1{' --seed 1' if seeded else ''}"  # or it is refused
        words = ZONED if zones else f"Rows can be asked for {listing(asked)}: {command}."
        click.echo(f"\n{paragraph(words)}")


FREE = (
    "From the release alone, for nothing. The cost has columns scaled by the bounds; the distance is in metres on a "
    "map, and in the units of the data elsewhere; the separation, between the two nearest of the published centres, is "
    "in halves of the widest range."
)
ZONED = "Rows cannot be asked about a release with zones, to which more was promised than such a question keeps."

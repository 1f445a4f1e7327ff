"""`covey show` and `covey export`: what is in a file that Covey published, for people and for other programs. Free."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from covey.cli.coreset import show_coreset
from covey.cli.options import check_outputs, forced
from covey.errors import need
from covey.published.show import show_release
from covey.text import paragraph, printable, show_table

if TYPE_CHECKING:
    from covey.published.answers import Answer
    from covey.published.coreset.coreset import Coreset
    from covey.published.levels.levels import LevelSet
    from covey.published.profile.profile import Profile
    from covey.published.release import Release
    from covey.published.score.score import Score

FORMATS = click.Choice(["geojson", "csv", "gpkg", "html", "png"])
USUAL_K = 5


def takes_release(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose RELEASE is a release, a coreset, or a level of several."""
    for option in (
        click.option("--allow-seeded", is_flag=True, help="Let files be written of a release made with --seed."),
        forced,
        click.option("--lat", metavar="NAME", help="The column that is the latitude, if its name does not say it."),
        click.option("--lon", metavar="NAME", help="The column that is the longitude, if its name does not say it."),
        click.option(
            "-k", "k", type=int, metavar="K", help="Of levels: K centres of the level; without it its points."
        ),
        click.option("--level", metavar="NAME", help="Of levels: which one."),
        click.argument("file", metavar="RELEASE"),
    ):
        command = option(command)
    return command


@click.command(short_help="Show what is in a release, a coreset, levels, a profile, a score or bounds.")
@takes_release
@click.option("--plot", metavar="FILE", help="Draw the map here, as PNG.")
@click.option("--scaled", is_flag=True, help="Tell costs as they are measured, with columns scaled by the bounds.")
def show(
    *,
    file: str,
    level: str | None,
    k: int | None,
    lon: str | None,
    lat: str | None,
    force: bool,
    allow_seeded: bool,
    plot: str | None,
    scaled: bool,
) -> None:
    """Show RELEASE, any file that Covey publishes: its numbers with their errors, a map, and what was promised.

    \b
    Examples:
      covey show release.json
      covey show coreset.parquet --plot points.png
      covey show levels.json --level balanced -k 5
      covey show profile.json --plot profile.png
    """
    if plot is not None:
        check_outputs([plot], inputs=[file], force=force)

    from covey.published.answers import read_answer
    from covey.published.characters import character_map
    from covey.published.export import contents
    from covey.published.levels.levels import LevelSet
    from covey.published.release import Release

    if (answer := read_answer(file)) is not None:
        show_answer(answer, plot, of_levels=level is not None or k is not None, allow_seeded=allow_seeded)
        return
    found = chosen(file, level=level, k=k)
    if isinstance(found, LevelSet):
        if plot is not None:
            raise click.UsageError("--level: which level is to be drawn? --plot draws one of them")
        show_levels(found)
        return
    content = None
    if plot is not None:
        check_seed(found, allowed=allow_seeded)
        need("plot", "--plot: a picture")
        content = contents(found, "png", name="", lon=lon, lat=lat)
    if lines := character_map(found, lon=lon, lat=lat):
        click.echo("\n".join([*lines, ""]))
    if isinstance(found, Release):
        show_release(found, scaled=scaled)
    else:
        show_coreset(found)
    if plot is not None and content is not None:
        write(plot, content)


@click.command(short_help="Write a release as GeoJSON, CSV, GeoPackage, web page or picture.")
@takes_release
@click.option("--to", type=FORMATS, help="The kind of file; by default, as the name of --out ends.")
@click.option("--out", required=True, metavar="FILE", help="Write the file here.")
@click.option("--name", metavar="NAME", help="The heading of a page; by default the data set's name.")
def export(
    *,
    file: str,
    level: str | None,
    k: int | None,
    lon: str | None,
    lat: str | None,
    force: bool,
    allow_seeded: bool,
    to: str | None,
    out: str,
    name: str | None,
) -> None:
    """Write RELEASE for other programs: its points, and the regions between them within the bounds.

    \b
    Examples:
      covey export release.json --to geojson --out centres.geojson
      covey export release.json --to html --out report.html
      covey export coreset.parquet --to gpkg --out points.gpkg
    """
    check_outputs([out], inputs=[file], force=force)

    from covey.published.coreset.coreset import Coreset
    from covey.published.export import contents, kind_of
    from covey.published.levels.levels import LevelSet

    kind, found = kind_of(to, out), chosen(file, level=level, k=k)
    if isinstance(found, LevelSet):
        options = ", ".join(printable(repr(each.name)) for each in found.levels)
        raise click.UsageError(f"--level: name one of the levels, {options}")
    check_seed(found, allowed=allow_seeded)
    if kind == "png":
        need("plot", "--to: a picture")
    usual = "Private coreset" if isinstance(found, Coreset) else "Private centres"
    heading = name or found.certificate.dataset or usual
    write(out, contents(found, kind, name=heading, lon=lon, lat=lat))


def chosen(file: str, *, level: str | None, k: int | None) -> Release | Coreset | LevelSet:
    """What a file holds; of levels, the centres or the points of the one that was named."""
    from covey.published.levels.levels import LevelSet
    from covey.published.reading import read_published

    found = read_published(file)
    if not isinstance(found, LevelSet):
        if level is not None:
            raise click.UsageError("--level: is for a file of levels; this one holds no others")
        if k is not None:
            raise click.UsageError("-k: is for a file of levels; `covey query CORESET -k 5` finds centres of a coreset")
        return found
    if level is None:
        if k is not None:
            raise click.UsageError("--level: of which level are the centres to be?")
        return found
    names = [each.name for each in found.levels]
    if level not in names:
        raise click.UsageError(f"--level: must be one of {', '.join(printable(repr(name)) for name in names)}")
    number = names.index(level)
    return found.coreset(number) if k is None else found.release(number, k)


def show_answer(answer: Answer, plot: str | None, *, of_levels: bool, allow_seeded: bool) -> None:
    """A profile, a score, or bounds that were found: as the command that made it shows it, and its picture."""
    from covey.published.bounds import FoundBounds, show_bounds
    from covey.published.profile.profile import Profile
    from covey.published.profile.words import show_profile
    from covey.published.score.words import show_score

    if of_levels:
        raise click.UsageError("--level, -k: are for a file of levels; this one holds none")
    content = None
    if plot is not None:
        if isinstance(answer, FoundBounds):
            raise click.UsageError("--plot: bounds have no picture")
        check_seed(answer, allowed=allow_seeded)
        need("plot", "--plot: a picture")
        content = answer.plot()
    if isinstance(answer, FoundBounds):
        show_bounds(answer)
    elif isinstance(answer, Profile):
        show_profile(answer)
    else:
        show_score(answer)
    if plot is not None and content is not None:
        write(plot, content)


def show_levels(found: LevelSet) -> None:
    """What each level means, and what all of them together promise."""
    from covey.published.certificate import in_full

    rows = [[each.name, in_full(each.epsilon), found.meaning(i)] for i, each in enumerate(found.levels)]
    click.echo(f"{len(rows)} privacy levels of {len(found.columns)} columns: {printable(', '.join(found.columns))}\n")
    show_table(["level", "epsilon"], [row[:2] for row in rows], right=[1])
    for name, _, words in rows:
        click.echo("\n" + paragraph(f"{name}: {words}"))
    click.echo(f"\n{paragraph(found.certificate.statement)}\n")
    click.echo(f"One of them: covey show FILE --level NAME, or its centres: --level NAME -k {USUAL_K}.")


def check_seed(found: Release | Coreset | Profile | Score, *, allowed: bool) -> None:
    """Refuse to write what is not private."""
    if found.certificate.seeded and not allowed:
        raise click.UsageError(
            "--allow-seeded: it was made with a seed and is not private; this writes it all the same"
        )


def write(path: str, content: bytes) -> None:
    from covey.files import write_whole

    write_whole(path, content)
    click.echo(f"Wrote {printable(path)}.")

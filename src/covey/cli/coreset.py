"""The commands of private coresets: make one, and ask it as often as you like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from covey.cli.answers import answers, as_released, rows_in_words, show_answers, way_of
from covey.cli.choose import choose
from covey.cli.data import ONE_FILE, takes_data
from covey.cli.fit import check_picture, check_shared, make_release, publish, save, save_json
from covey.cli.options import Shared, check_outputs, forced, promise_options, read_params, release_options
from covey.errors import ParameterError
from covey.files import File
from covey.published.show import show_release
from covey.text import in_commands, paragraph, printable

if TYPE_CHECKING:
    from covey.public import Ball, Box
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release

OBJECTIVES = click.Choice(["k-means", "k-median"])


@click.command(short_help="Make a private coreset: pay once, ask for ever.")
@click.argument("data", metavar="DATA")
@click.option("-k", "k", type=int, default=8, show_default=True, metavar="K", help="Number of centres to serve well.")
@promise_options
@click.option("--method", default="auto", show_default=True, metavar="NAME", help="auto, grid, net, ball or exact.")
@click.option(
    "--objective", type=OBJECTIVES, default="k-means", show_default=True, help="What it is made for; both may be asked."
)
@click.option("--reduce", "reduce_to", type=int, metavar="M", help="Publish at most M points.")
@click.option("--plot", metavar="FILE", help="Draw the points here, as PNG.")
@release_options
@takes_data
def coreset(
    *, data: File, k: int, method: str, objective: str, reduce_to: int | None, plot: str | None, **shared: Any
) -> None:
    """Make a private coreset of the rows of DATA: weighted points that answer for the rows at no further cost.

    \b
    Examples:
      covey coreset trips.csv --epsilon 1 --bounds lon=-74.1:-73.9,lat=40.7:40.9 --out coreset.parquet
      covey coreset trips.csv --epsilon 1 --bounds 0:1,0:1 --reduce 500 --out small.json --plot points.png
      covey query coreset.parquet --centers sites.csv --objective k-median
    """
    options = Shared(**shared)
    domain = check_shared(data, options, more_outputs=[plot])
    check_before(data, domain, options, reduce_to=reduce_to, plot=plot)

    from covey.algorithms.coreset_methods import coreset_algorithm
    from covey.published.coreset.coreset import Coreset
    from covey.published.coreset.files import to_json

    algorithm, parameters = coreset_algorithm(method, read_params(options.param))
    made = make_release(
        data, options, k=k, domain=domain, objective=objective, algorithm=algorithm, parameters=parameters
    )
    points = Coreset.of(made.release)
    if reduce_to is not None:
        points = points.reduce(reduce_to, random_state=int(points.origins[0][:8], 16))  # with --key, the same again
    publish(
        made,
        options,
        files=[
            (options.out, lambda path: points.save(path)),
            (options.geojson, lambda path: save_json(path, points.to_geojson(lon=options.lon, lat=options.lat))),
            (plot, lambda path: save(path, points, "png", options)),
        ],
        document=lambda: to_json(points),
        show=lambda: show_coreset(points, made.release),
    )


def check_before(data: File, domain: Box | Ball, options: Shared, *, reduce_to: int | None, plot: str | None) -> None:
    """Refuse before the charge what could only fail after it."""
    if options.out is None and not options.as_json:
        raise click.UsageError("--out: name the file of the coreset, .json or .parquet; or print all of it with --json")
    if reduce_to is not None and reduce_to < 2:
        raise ParameterError("m", "must be at least 2: one point for each sign of weight")
    if options.out is not None:
        from covey.published.coreset.files import check_suffix

        check_suffix(options.out)
    if plot is not None:
        check_picture(data, domain, options)


def show_coreset(points: Coreset, release: Release | None = None) -> None:
    """How large it is, and how far off the centres are that it was made for."""
    from covey.published.counted import below_none_in_all, counted_words
    from covey.published.sentences import units_in_words

    certificate = points.certificate
    negative = int((points.weights < 0).sum())
    click.echo(
        f"A coreset by {printable(certificate.algorithm)}: {len(points):,} points to publish, {negative:,} of them of "
        f"negative weight; {rows_in_words(points)} in all.\n"
    )
    if release is not None and (told := of_its_own(points, release)):
        click.echo(f"{paragraph(' '.join([f'Its own {len(release.centres)} centres, for example:', *told]))}\n")
    rows = " ".join([*below_none_in_all(points), *counted_words(certificate)])
    for words in (in_commands(units_in_words(certificate)), rows):
        click.echo(f"{paragraph(words)}\n" if words else "", nl=bool(words))
    click.echo(f"{paragraph(certificate.statement)}\n")
    click.echo("Ask it for ever: covey query FILE --centers SITES, or covey query FILE -k 5.")


def of_its_own(points: Coreset, release: Release) -> list[str]:
    """How far off the centres are that it was made for; with zones, why that is not known of any centres."""
    from covey.published.coreset.answers import ZONED, why_unknown
    from covey.published.sentences import cost_untold, of_costs

    told = of_costs(release)
    if points.boxes is not None or why_unknown(points) != ZONED:
        return told
    kept = [each for each in told if "cannot be told" not in each]
    return [*kept, cost_untold(f"How far off the {release.objective} cost may be", ZONED)]


@click.command(short_help="Ask a coreset: the cost of centres, or new centres. Free.")
@click.argument("file", metavar="CORESET")
@click.option("--centers", **ONE_FILE, help="Sets of centres to price: CSV, JSON, GeoJSON, or a release.")
@click.option("-k", "k", type=int, metavar="K", help="Find K centres.")
@click.option(
    "--k-range", metavar="LEAST:MOST", help="How many clusters are there, of so many? --plot draws the curve."
)
@click.option("--objective", type=OBJECTIVES, help="By default, what the coreset was made for.")
@click.option("--allowed", **ONE_FILE, help="GeoJSON region that every site must lie in.")
@click.option("--forbidden", **ONE_FILE, help="GeoJSON region that no site may lie in.")
@click.option("--candidates", **ONE_FILE, help="With -k: the places to choose from; files as for --centers.")
@click.option("--fixed", **ONE_FILE, help="With -k: places that stand already, and count among the K.")
@click.option("--speed", type=float, metavar="KM/H", help="On a map: tell distances in minutes too, at this speed.")
@click.option("--lon", metavar="NAME", help="The column that is the longitude.")
@click.option("--lat", metavar="NAME", help="The column that is the latitude.")
@click.option("--out", metavar="FILE", help="With -k: write the centres here, as a release.")
@click.option("--geojson", metavar="FILE", help="With -k: write the centres and their regions here, for a map.")
@click.option("--plot", metavar="FILE", help="With -k: draw the centres here, as PNG.")
@forced
@click.option("--allow-seeded", is_flag=True, help="Let files be written from a coreset made with --seed.")
@click.option("--scaled", is_flag=True, help="Tell costs as they are measured, with columns scaled by the bounds.")
@click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON.")
def query(
    *,
    file: str,
    centers: str | None,
    k: int | None,
    k_range: str | None,
    objective: str | None,
    allowed: str | None,
    forbidden: str | None,
    candidates: str | None,
    fixed: str | None,
    speed: float | None,
    lon: str | None,
    lat: str | None,
    out: str | None,
    geojson: str | None,
    plot: str | None,
    force: bool,
    allow_seeded: bool,
    scaled: bool,
    as_json: bool,
) -> None:
    """Ask CORESET, a file of `covey coreset`, what centres would cost, or for the best K. Nothing is spent.

    \b
    Examples:
      covey query coreset.parquet --centers sites.csv --allowed city.geojson --forbidden parks.geojson
      covey query coreset.parquet -k 5 --out release.json --geojson centres.geojson --plot map.png
      covey query coreset.parquet -k 3 --fixed depots.csv --forbidden parks.geojson --speed 30
      covey query coreset.parquet --k-range 2:20 --plot elbow.png
    """
    if k_range is not None:
        others = {"--centers": centers, "-k": k, "--out": out, "--geojson": geojson, "--fixed": fixed, "--speed": speed}
        how: Any = {"plot": plot, "force": force, "allow_seeded": allow_seeded, "as_json": as_json}
        choose(file, k_range, objective, others=others, **how)
        return
    if centers is None and k is None:
        raise click.UsageError("--centers, -k: give centres to price, or the number of centres to find")
    files = {"--out": out, "--geojson": geojson, "--plot": plot}
    outputs = {option: path for option, path in files.items() if path is not None}
    if outputs and k is None:
        what = "writes the centres that -k finds; give -k, or use --json to keep the answers"
        raise click.UsageError(f"{next(iter(outputs))}: {what}")
    if k is None and (candidates is not None or fixed is not None):
        raise click.UsageError("--candidates, --fixed: say where the centres of -k may be; give -k too")
    if outputs:
        inputs = (file, centers, allowed, forbidden, candidates, fixed)
        check_outputs(list(outputs.values()), inputs=[path for path in inputs if path is not None], force=force)

    from covey.published.centres import read_centres, read_places
    from covey.published.coreset.coreset import Coreset
    from covey.published.export import plane_of
    from covey.published.sentences import distance_words

    points = Coreset.load(file)
    unit = points.unit(lon, lat)
    unit.at(speed)  # or a refusal, before anything is searched
    if outputs and points.certificate.seeded and not allow_seeded:
        raise click.UsageError(
            f"{next(iter(outputs))}: the coreset was made with a seed and is not private; --allow-seeded writes the "
            "centres all the same"
        )
    for option, kind in (("--geojson", "geojson"), ("--plot", "png")):
        if option in outputs:
            plane_of(points, kind, lon=lon, lat=lat)
    chosen: Any = objective or points.objective
    sets: dict[str, Any] = {} if centers is None else dict(read_centres(centers, points.columns, lon=lon, lat=lat))
    stands, listed = (
        None if path is None else read_places(path, points.columns, name=name, lon=lon, lat=lat)
        for name, path in (("fixed", fixed), ("candidates", candidates))
    )
    regions: Any = {"allowed": allowed, "forbidden": forbidden, "fixed": stands, "lon": lon, "lat": lat}
    found = None
    if k is not None:
        find = points.kmeans if chosen == "k-means" else points.kmedian
        found = find(k, candidates=listed, **regions)
        sets |= {f"found by {chosen}": found.centres} | ({} if stands is None else {"fixed alone": stands})
        limited = any(each is not None for each in (allowed, forbidden, stands, listed))
        sets |= {f"{k} anywhere": find(k).centres} if limited else {}
    rows = points.compare(sets, objective=chosen, speed=speed, **regions)
    if found is not None:  # which tells its own distance: the same number everywhere
        name = f"found by {chosen}"
        rows = [as_released(row, found, speed, metres=unit.metres) if row.name == name else row for row in rows]
    if found is not None:
        save_centres(found, out=out, geojson=geojson, plot=plot, lon=lon, lat=lat)
    if as_json:
        click.echo(json.dumps(answers(points, chosen, rows, found, speed), indent=2))
        return
    if found is not None:
        show_release(found, scaled=scaled)
    alone = found is not None and len(sets) == 1 and distance_words(found) is not None
    if not alone:  # what was found tells its own distance where it can: alone, there is nothing to compare
        show_answers(points, chosen, rows, sets=sets, metres=unit.metres, speed=speed, scaled=scaled)
    elif speed is not None:
        click.echo(way_of(rows[0], speed))
    if found is None:
        click.echo(f"\n{paragraph(points.certificate.statement)}")
    if outputs:
        click.echo(f"Wrote {printable(', '.join(outputs.values()))}.")


def save_centres(
    found: Release, *, out: str | None, geojson: str | None, plot: str | None, lon: str | None, lat: str | None
) -> None:
    """Write the centres that were found, as a release, for a map, and as a picture."""
    from covey.files import write_whole
    from covey.published.export import contents

    if out is not None:
        found.save(out)
    for path, kind in ((geojson, "geojson"), (plot, "png")):
        if path is not None:
            write_whole(path, contents(found, kind, name="", lon=lon, lat=lat))

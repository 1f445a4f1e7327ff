"""`covey plan`: what an epsilon can buy, and the epsilon that a wish needs, before any data is touched."""

from __future__ import annotations

import json
from typing import Any

import click

from covey.errors import ParameterError, need
from covey.text import show_table


@click.command()
@click.option("--n", "size", required=True, metavar="N", help="How many rows there are, about: 1e6.")
@click.option("-d", "columns", required=True, type=int, metavar="D", help="How many columns are clustered.")
@click.option("-k", "clusters", required=True, type=int, metavar="K", help="How many centres are wanted.")
@click.option(
    "--epsilon", type=float, metavar="E", help="The privacy you have in mind; without it, a table of several."
)
@click.option("--delta", type=float, metavar="D", help="Delta of the promise; helps in more than 4 columns.")
@click.option("--error", metavar="SHARE", help="The extra cost you accept: 5% above ordinary k-means.")
@click.option("--size-error", metavar="SHARE", help="How wrong sizes may be: 5% of a typical cluster's rows.")
@click.option("--place-error", metavar="LENGTH", help="How far off centres may be: 300m, 2km, or 2% of the width.")
@click.option("--extent", metavar="LENGTH", help="The longest side of the domain, for metres: 30km.")
@click.option("--bounds", multiple=True, metavar="RANGES", help="Instead: lon=-74.1:-73.9,lat=40.7:40.9.")
@click.option("--neighbours", default="add-remove", show_default=True, metavar="NAME", help="Or replace-one.")
@click.option("--questions", type=int, metavar="P", help="Also: private bounds, scores, and a profile of P columns.")
@click.option("--json", "as_json", is_flag=True, help="Print the forecast as JSON.")
@click.option("--plot", metavar="FILE", help="Draw the expected errors against epsilon, as PNG.")
def plan(
    *,
    size: str,
    columns: int,
    clusters: int,
    bounds: tuple[str, ...],
    as_json: bool,
    plot: str | None,
    **wishes: Any,
) -> None:
    """What to expect of `auto` for N rows, D columns and K centres, and the epsilon that a wish needs.

    Reads no data and costs nothing. `covey.plan` is the same in Python.

    \b
    Examples:
      covey plan --n 1e5 -d 2 -k 10 --error 5%
      covey plan --n 1e5 -d 2 -k 10 --size-error 5% --place-error 300m --extent 30km
      covey plan --n 1e5 -d 2 -k 10 --epsilon 0.5 --questions 3
    """
    from covey.cli.options import read_bounds
    from covey.theory.plan import HEADERS
    from covey.theory.plan import plan as look_ahead
    from covey.theory.questions import HEADERS as MORE

    try:
        rows = float(size)
    except ValueError:
        raise ParameterError("n", "must be a number, such as 100000 or 1e5") from None
    domain: Any = read_bounds(bounds, None) if bounds else None
    outlook = look_ahead(rows, columns, clusters, bounds=domain, **wishes)
    if plot is not None:
        need("plot", "--plot: a picture")
        from covey.files import write_whole
        from covey.theory.draw import forecast_plot

        most = {what: each.most for what, each in outlook.needs.items()}
        write_whole(plot, forecast_plot(outlook.forecasts[0], wishes=most, width=outlook.width))
    if as_json:
        click.echo(json.dumps(outlook.document(), indent=2))
        return
    click.echo(outlook.opening())
    show_table(HEADERS, outlook.table())
    for remark in outlook.remarks():
        click.echo(remark)
    if outlook.questions:
        click.echo()
        show_table(MORE, outlook.further())
        click.echo(outlook.meaning())

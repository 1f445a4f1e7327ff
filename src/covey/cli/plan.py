"""`covey plan`: what an epsilon can buy, before any data is touched."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from covey.errors import ParameterError
from covey.text import show_table

if TYPE_CHECKING:
    from covey.theory.forecast import Forecast
    from covey.theory.limits import Bound

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)


def _whole(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(name, "must be a number, such as 100000 or 1e5") from None


def _floor(row: Forecast) -> Bound | None:
    """The lower bound of AAAI'21 at the first epsilon of the table, for which the theorems hold up to 1."""
    from covey.theory.limits import clustering_floor, pure_clustering_floor

    if row.epsilon >= 1:
        return None
    if row.delta is None:
        return pure_clustering_floor(k=row.k, d=row.d, epsilon=row.epsilon)
    return clustering_floor(k=row.k, epsilon=row.epsilon, delta=row.delta)


@click.command()
@click.option("--n", "size", required=True, metavar="N", help="How many rows there are, about: 1e6.")
@click.option("-d", "columns", required=True, type=int, metavar="D", help="How many columns are clustered.")
@click.option("-k", "clusters", required=True, type=int, metavar="K", help="How many centres are wanted.")
@click.option(
    "--epsilon", type=float, metavar="E", help="The privacy you have in mind; without it, a table of several."
)
@click.option("--delta", type=float, metavar="D", help="The exceptional chance; helps in more than 4 columns.")
@click.option("--target", type=float, metavar="R", help="The cost you can accept: 1.05 is 5% above ordinary k-means.")
@click.option("--neighbours", default="add-remove", show_default=True, metavar="NAME", help="Or replace-one.")
@click.option("--json", "as_json", is_flag=True, help="Print the forecast as JSON.")
@click.option("--plot", metavar="FILE", help="Draw expected cost against epsilon, as PNG.")
def plan(
    *,
    size: str,
    columns: int,
    clusters: int,
    epsilon: float | None,
    delta: float | None,
    target: float | None,
    neighbours: str,
    as_json: bool,
    plot: str | None,
) -> None:
    """What to expect of `auto` for N rows, D columns and K centres. Reads no data and costs nothing."""
    from covey.theory.forecast import forecast, smallest_epsilon, smallest_n

    shape: dict[str, Any] = {"n": _whole("n", size), "d": columns, "k": clusters}
    rest: dict[str, Any] = {"delta": delta, "neighbours": neighbours}
    wanted = EPSILONS if epsilon is None else tuple(sorted({epsilon, epsilon / 2, epsilon / 10}, reverse=True))
    table = [forecast(**shape, epsilon=each, **rest) for each in wanted]
    answers: dict[str, float] = {}
    if target is not None:
        answers["smallest_epsilon"] = smallest_epsilon(target=target, **shape, **rest)
        if epsilon is not None:
            del shape["n"]
            answers["smallest_n"] = smallest_n(target=target, epsilon=epsilon, **shape, **rest)
    if plot is not None:
        if find_spec("matplotlib") is None:
            raise click.UsageError("--plot: needs matplotlib, which is not installed: pip install 'covey[plot]'")
        from covey.files import write_whole
        from covey.theory.draw import forecast_plot

        write_whole(plot, forecast_plot(table[0]))
    floor = _floor(table[0])
    if as_json:
        limit = None if floor is None else asdict(floor)
        click.echo(json.dumps({"forecast": [asdict(each) for each in table], "limit": limit, **answers}, indent=2))
        return
    click.echo(f"auto would take: {table[0].route}. Why: {table[0].why}.")
    show_table(
        ["epsilon", "expected cost", "a tenth is better than", "a tenth is worse than"],
        [[f"{row.epsilon:g}", f"{row.ratio:.3f}", f"{row.low:.3f}", f"{row.high:.3f}"] for row in table],
    )
    click.echo("Cost is relative to ordinary k-means (1.05: 5% more), forecast from fits of made-up data.")
    if not all(row.measured for row in table):
        click.echo("Some of this lies beyond what was measured: take it with caution.")
    if floor is not None:
        click.echo(f"What nobody can beat: {floor.statement} ({floor.source}; here about {floor.value:,.0f}·Δ²).")
    if "smallest_epsilon" in answers:
        click.echo(f"A cost of {target:g} should need epsilon {answers['smallest_epsilon']:g}.")
    if "smallest_n" in answers:
        click.echo(f"At epsilon {epsilon:g} it should need {answers['smallest_n']:,.0f} rows.")

"""How many clusters a coreset shows, on the command line: the question of `covey query --k-range`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from covey.cli.options import check_outputs
from covey.errors import ParameterError, need
from covey.text import paragraph, printable, show_table

if TYPE_CHECKING:
    from covey.published.coreset.choose import Choice


def read_k(text: str) -> int | str:
    """`5` is a number of centres; `auto` is left to the library."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError("n_clusters", f"{text!r} is neither a whole number nor auto") from None


def read_k_range(text: str) -> tuple[int, int]:
    """`2:20`: the least and the most clusters."""
    ends = re.fullmatch(r"(\d{1,4}):(\d{1,4})", text)
    if ends is None:
        raise ParameterError("k_range", "must be the least and the most clusters, such as 2:20")
    return int(ends[1]), int(ends[2])


def choose(
    file: str,
    k_range: str,
    objective: str | None,
    *,
    plot: str | None,
    force: bool,
    allow_seeded: bool,
    as_json: bool,
    others: Mapping[str, Any],
) -> None:
    """Tell how many clusters fit best, of a range, with the cost of each number. others : options it has no use for."""
    if given := [option for option, value in others.items() if value is not None]:
        raise click.UsageError(f"--k-range: asks how many clusters there are; ask without {given[0]}")
    asked = read_k_range(k_range)
    if plot is not None:
        need("plot", "--plot: a picture")
        check_outputs([plot], inputs=[file], force=force)

    from covey.published.coreset.coreset import Coreset

    points = Coreset.load(file)
    if plot is not None and points.certificate.seeded and not allow_seeded:
        raise click.UsageError("--plot: the coreset was made with a seed and is not private; --allow-seeded draws it")
    chosen: Any = objective or points.objective
    found = points.choose_k(asked, objective=chosen)
    if plot is not None:
        from covey.files import write_whole
        from covey.published.elbow import elbow_plot

        write_whole(plot, elbow_plot(found, chosen, seeded=points.certificate.seeded))
    if as_json:
        click.echo(json.dumps(plain(found, chosen), indent=2))
        return
    show(found, chosen)
    click.echo(f"\n{paragraph(points.certificate.statement)}")
    if plot is not None:
        click.echo(f"Wrote {printable(plot)}.")


def plain(found: Choice, objective: str) -> dict[str, Any]:
    """The answer as plain data; what cannot be told is null, with the reason."""
    costs = [
        {
            "k": k,
            "cost": None if found.hides(k) else each.cost,
            **dict(zip(("low", "high"), found.ends(k) or (None, None), strict=True)),
            "why": each.why,
        }
        for k, each in found.costs.items()
    ]
    told = {"k": found.k, "low": found.low, "high": found.high, "more": found.more, "words": found.words}
    how = {"bracket": found.bracket, "remarks": found.remarks(objective)}
    return {**told, "objective": objective, "costs": costs, **how}


def show(found: Choice, objective: str) -> None:
    """The costs as a table, and what they say."""
    from covey.cli.answers import BRACKET, told_number
    from covey.post.errors.quantiles import LEVEL
    from covey.published.sentences import often

    lines = []
    for k, each in found.costs.items():
        told = told_number(each.cost, found.ends(k) or (None, None), each.why)
        lines.append((k, told, "best" if k == found.k else ""))
    if lines:
        show_table(["clusters", f"{objective} cost (noisy)", ""], lines, right=range(2))
        click.echo()
    ends = any(found.ends(k) for k in found.costs)
    meant = [] if not ends else [BRACKET if found.bracket else f"Each interval holds {often(LEVEL)}."]
    click.echo(paragraph(found.words))
    if told_more := [*meant, *found.remarks(objective)]:
        click.echo(f"\n{paragraph(' '.join(told_more))}")

"""`covey group`: what a release from a random sample promises to a group of people. Reads no data, costs nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from covey.cli.options import check_outputs
from covey.errors import ParameterError, need
from covey.text import paragraph, printable, show_table, upward

if TYPE_CHECKING:
    from covey.theory.group import GroupPrivacy, Step

ROWS = 24  # of the printed table; --json and --plot have all of them
NEVER = 1e-18  # a chance that nobody needs to see made smaller
MOST_WORK = 40_000  # terms of the finer delta: about a second


@click.command()
@click.option("--epsilon", required=True, metavar="E", help="Of the algorithm on the sample, before amplification.")
@click.option("--group", required=True, type=int, metavar="G", help="How many people the group has.")
@click.option("--rate", metavar="R", help="Everybody was in the sample with this chance (add-remove).")
@click.option("--sample", type=int, metavar="M", help="Instead of --rate, with --n: M people of N (replace-one).")
@click.option("--n", "people", type=int, metavar="N", help="With --sample: how many people there are.")
@click.option("--delta", default="0", show_default=True, metavar="D", help="Of the algorithm on the sample.")
@click.option("--at", metavar="D", help="Find the smallest epsilon for the group at this delta.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole curve as JSON.")
@click.option("--plot", metavar="FILE", help="Draw delta against epsilon, as PNG.")
def group(
    *,
    epsilon: str,
    group: int,
    rate: str | None,
    sample: int | None,
    people: int | None,
    delta: str,
    at: str | None,
    as_json: bool,
    plot: str | None,
) -> None:
    """What a release from a sample promises to a group of G people: few of them are in the sample.

    \b
    Examples:
      covey group --epsilon 0.5 --rate 0.01 --group 100
      covey group --epsilon 0.5 --rate 0.01 --group 100 --at 1e-6
      covey group --epsilon 1 --sample 1000 --n 100000 --group 20 --json
    """
    if plot is not None:
        need("plot", "--plot: a picture")
        check_outputs([plot], inputs=[], force=True)

    from covey.theory.group import group_privacy

    try:
        found = group_privacy(
            _number("epsilon", epsilon),
            group=group,
            rate=None if rate is None else _number("rate", rate),
            sample=sample,
            n=people,
            delta=_number("delta", delta),
        )
        answer = describe(found, at=None if at is None else _number("at", at))
    except ParameterError as error:  # these names are options of this command, and mean other things elsewhere
        raise click.UsageError(f"--{error}") from None
    if plot is not None:
        from covey.files import write_whole

        write_whole(plot, draw(answer))
    if as_json:
        click.echo(json.dumps(answer, indent=2))
        return
    show(answer)
    if plot is not None:
        click.echo(f"Wrote {printable(plot)}.")


def _number(name: str, text: str) -> Any:
    try:
        float(text)
    except ValueError:
        raise ParameterError(name, "must be a number, such as 0.01 or 1e-6") from None
    return text if name != "at" else float(text)  # as text, it is the exact decimal number


def describe(found: GroupPrivacy, *, at: float | None) -> dict[str, Any]:
    """All that is proven for the group, as plain data."""
    telling = [step for step in found.curve if step.threshold == 0 or step.delta > NEVER or step.delta == 0]
    last = next((step.threshold for step in found.curve if step.delta <= NEVER), found.group)
    finer = (last + 1) * (found.group + 1) <= MOST_WORK
    answer: dict[str, Any] = {
        "group": found.group,
        "naive": _promise(found.naive.epsilon, found.naive.delta),
        "amplified": _promise(found.amplified.epsilon, found.amplified.delta),
        "curve": [
            {
                "threshold": step.threshold,
                **_promise(step.epsilon, step.delta),
                "finer_delta": found.delta_at(step.epsilon) if finer and step.threshold <= last else None,
            }
            for step in found.curve
        ],
        "telling": min(len(telling), last + 1),
    }
    if at is not None:
        best: Step = found.best_threshold(at)
        answer["at"] = {
            "delta": at,
            "best_threshold": {"threshold": best.threshold, **_promise(best.epsilon, best.delta)},
            "finer_epsilon": found.epsilon_at(at) if found.group <= MOST_WORK // 40 else None,
        }
    return answer


def _promise(epsilon: float, delta: float) -> dict[str, float]:
    return {"epsilon": epsilon, "delta": delta}


def show(answer: dict[str, Any]) -> None:
    """The curve as a table, and what stands beside it."""
    people, rows = answer["group"], answer["curve"][: answer["telling"]]
    step = -(-len(rows) // ROWS)
    shown = [*rows[: -1 if len(rows) > 1 else None : step], *(rows[-1:] if len(rows) > 1 else [])]
    click.echo(f"A group of {people:,}. T: how many of them may be in the sample before delta pays for it.\n")
    show_table(
        ["T", "epsilon", "delta", "finer delta"],
        [[row["threshold"], *map(_short, (row["epsilon"], row["delta"], row["finer_delta"]))] for row in shown],
        right=(0, 1, 2, 3),
    )
    naive, amplified = answer["naive"], answer["amplified"]
    click.echo("\nBeside it:")
    show_table(
        ["promise", "epsilon", "delta"],
        [
            ["naive: as if there were no sampling", _short(naive["epsilon"]), _short(naive["delta"])],
            ["amplified: one person's, as often as there are people", *map(_short, amplified.values())],
        ],
        right=(1, 2),
    )
    if "at" in answer:
        goal, best = f"{answer['at']['delta']:g}", answer["at"]["best_threshold"]
        words = f"At delta {goal}: the best threshold is T = {best['threshold']}, epsilon {_short(best['epsilon'])}"
        finer = answer["at"]["finer_epsilon"]
        click.echo("\n" + paragraph(words + ("." if finer is None else f"; the finer bound gives {_short(finer)}.")))
    click.echo(
        "\n"
        + paragraph(
            "Every line is true; use whichever suits. They hold for the group as a whole, in both directions, and are "
            "rounded up. A noisy number of rows that the rate was derived from adds its own epsilon times the group."
        )
    )


def _short(value: float | None) -> str:
    """Four digits, never less: a promise that is rounded down is none."""
    return "" if value is None else f"{upward(value, 4):.4g}"


def draw(answer: dict[str, Any]) -> bytes:
    """A PNG of delta against epsilon: the curve over T, the finer delta, the naive and the amplified promise."""
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [row for row in answer["curve"][: answer["telling"]] if row["delta"] > 0]
    finer = [row for row in rows if row["finer_delta"]]
    figure = Figure(figsize=(8, 5), dpi=150, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(
        [row["epsilon"] for row in rows], [row["delta"] for row in rows], "o-", ms=4, color="#1f6f8b", label="over T"
    )
    axes.plot(
        [row["epsilon"] for row in finer], [row["finer_delta"] for row in finer], color="#d1495b", label="finer delta"
    )
    for name, style in (("amplified", "--"), ("naive", ":")):
        promise = answer[name]
        label = f"{name}: epsilon {_short(promise['epsilon'])}, delta {_short(promise['delta'])}"
        if name == "amplified" or not rows or promise["epsilon"] <= 2 * rows[-1]["epsilon"]:
            axes.axvline(promise["epsilon"], ls=style, color="#555555", label=label)
        else:
            axes.plot([], [], ls=style, color="#555555", label=label)
    axes.set_yscale("log")
    axes.set_xlabel("epsilon for the whole group")
    axes.set_ylabel("delta for the whole group")
    axes.set_title(f"What a sample promises to a group of {answer['group']:,}", loc="left")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    image = io.BytesIO()
    canvas.print_png(image)
    return image.getvalue()

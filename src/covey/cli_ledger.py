"""The commands of `covey ledger`: make, show and verify the file that keeps the budget."""

from __future__ import annotations

import json

import click

from covey.words import in_words, printable, show_table


@click.group(invoke_without_command=True)
@click.pass_context
def ledger(context: click.Context) -> None:
    """Keep the privacy budget of data sets in a file: init, show, verify."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@ledger.command()
@click.argument("file", metavar="FILE")
@click.option("--dataset", required=True, metavar="NAME", help="The data set whose budget is kept.")
@click.option("--epsilon", required=True, metavar="E", help="All that may ever be spent on it.")
@click.option("--delta", default="0", show_default=True, metavar="D", help="All of delta that may ever be spent on it.")
@click.option("--anchor", metavar="FILE", help="Keep the newest entry here too, on another disk: notices old copies.")
def init(*, file: str, dataset: str, epsilon: str, delta: str, anchor: str | None) -> None:
    """Make a new ledger FILE with the total budget of one data set. Totals cannot be changed later."""
    from covey.budget.ledger import Ledger

    Ledger.create(file, dataset=dataset, epsilon=epsilon, delta=delta, anchor=anchor)
    click.echo(f"{printable(file)}: a ledger for {printable(repr(dataset))}; nothing is spent yet.")
    if anchor is None:
        click.echo("Without --anchor, an old copy put in its place could not be noticed.")


@ledger.command()
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print data sets and entries as JSON.")
def show(*, file: str, as_json: bool) -> None:
    """Show what was spent on each data set, and every charge."""
    from covey.budget.ledger import Ledger
    from covey.budget.records import cost_of

    book = Ledger.open(file)
    report, entries = book.verify(), book.entries()
    released = {entry.charge for entry in entries if entry.kind == "release"}
    datasets = [
        {
            "dataset": account.dataset,
            **{
                f"{part}_{what}": None if cost is None else float(getattr(cost, part))
                for part in ("epsilon", "delta")
                for what, cost in (("total", account.total), ("spent", account.spent), ("left", account.remaining))
            },
        }
        for account in report.datasets
    ]
    charges = []
    for entry in entries:
        if entry.kind == "charge":
            cost = cost_of((entry.epsilon or 0, entry.delta or 0))
            charges.append(
                {
                    "entry": entry.sequence,
                    "time": entry.time,
                    "dataset": entry.dataset,
                    "epsilon": float(cost.epsilon),
                    "delta": float(cost.delta),
                    "purpose": entry.purpose,
                    "state": "released" if entry.sequence in released else "not finished",
                }
            )
    head = {"sequence": report.head.sequence, "hash": report.head.hash}
    if as_json:
        document = {"ledger": report.ledger, "anchored": report.anchored, "head": head}
        click.echo(json.dumps({**document, "datasets": datasets, "charges": charges}, indent=2))
        return
    for rows, numbers in ((datasets, range(1, 7)), (charges, (0, 3, 4))):
        if rows:
            show_table(
                [name.replace("_", " ") for name in rows[0]],
                [[in_words(value) for value in row.values()] for row in rows],
                right=numbers,
            )
            click.echo()
    click.echo(f"Head: entry {head['sequence']}, {head['hash']}" + ("" if charges else "; nothing was charged yet"))


@ledger.command()
@click.argument("file", metavar="FILE")
def verify(*, file: str) -> None:
    """Check the chain of entries, the sums, the stored releases and the anchor."""
    from covey.budget.ledger import Ledger

    report = Ledger.open(file).verify()
    anchor = "its anchor agrees" if report.anchored else "it has no anchor, so an old copy could not be noticed"
    click.echo(
        f"{printable(file)}: in order. {report.entries} entries, {report.charges} charges, {report.releases} releases, "
        f"{report.unfinished} not finished; {anchor}.\nHead: entry {report.head.sequence}, {report.head.hash}"
    )

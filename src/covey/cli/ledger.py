"""The commands of `covey ledger`: make, show and verify the file that keeps the budget."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from covey.cli.options import Command, check_outputs, files_of, forced
from covey.text import in_words, printable, show_table

if TYPE_CHECKING:
    from covey.budget.ledger.ledger import Ledger


@click.group(invoke_without_command=True)
@click.pass_context
def ledger(context: click.Context) -> None:
    """Keep the privacy budget of data sets in a file: init, add, list, show, verify, export, renew-anchor."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def of_data_set(command: Command) -> Command:
    """The options that make a data set: its name, total and type. None of them can be changed later."""
    for option in reversed(
        (
            click.option("--dataset", required=True, metavar="NAME", help="The data set whose budget is kept."),
            click.option("--epsilon", required=True, metavar="E", help="All that may ever be spent on it."),
            click.option(
                "--delta",
                default="0",
                show_default=True,
                metavar="D",
                help="All of delta that may ever be spent on it.",
            ),
            click.option(
                "--neighbours",
                type=click.Choice(["add-remove", "replace-one"]),
                default="add-remove",
                show_default=True,
                help="What its promises are about: whether somebody is in the data, or their values.",
            ),
            click.option(
                "--person",
                metavar="COLUMN",
                help="Its promises are for people, who share a value in this column; without it, for rows.",
            ),
        )
    ):
        command = option(command)
    return command


@ledger.command()
@click.argument("file", metavar="FILE")
@of_data_set
@click.option("--anchor", metavar="FILE", help="Keep the newest entry here too, on another disk: notices old copies.")
def init(*, file: str, dataset: str, anchor: str | None, **total: Any) -> None:
    """Make a new ledger FILE with the total budget of one data set. Totals and types cannot be changed later."""
    from covey.budget.ledger.ledger import Ledger

    book = Ledger.create(file, dataset=dataset, anchor=anchor, **total)
    made(file, book, dataset)
    if anchor is None:
        click.echo("Without --anchor, an old copy put in its place could not be noticed.")


@ledger.command()
@click.argument("file", metavar="FILE")
@of_data_set
def add(*, file: str, dataset: str, **total: Any) -> None:
    """Add a data set of other people to a ledger FILE, with a total of its own."""
    from covey.budget.ledger.ledger import Ledger

    book = Ledger.open(file)
    book.add(dataset, **total)
    made(file, book, dataset)


def made(file: str, book: Ledger, dataset: str) -> None:
    kind = book.datasets()[dataset].kind
    click.echo(f"{printable(file)}: keeps the budget of {printable(repr(dataset))}, for {kind}; nothing is spent yet.")


@ledger.command("renew-anchor")
@click.argument("file", metavar="FILE")
def renew_anchor(*, file: str) -> None:
    """Write the anchor of a ledger FILE anew where it was lost: only you can know that FILE is not an old copy."""
    from covey.budget.ledger.ledger import Ledger

    head = Ledger.renew_anchor(file).head
    click.echo(f"{printable(file)}: its anchor is there again, at entry {head.sequence}, {head.hash}")


@ledger.command("list")
@click.argument("file", metavar="FILE")
def list_(*, file: str) -> None:
    """List the data sets of a ledger FILE: name, what is left, and for whom its promises are."""
    from covey.budget.accounting.amounts import shown
    from covey.budget.ledger.ledger import Ledger

    for name, account in Ledger.open(file).datasets().items():
        left = account.remaining
        amount = "no limit" if left is None else f"epsilon {shown(left.epsilon)}, delta {shown(left.delta)} left"
        click.echo(f"{printable(name)}\t{amount}\t{account.kind}")


@ledger.command()
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print data sets and entries as JSON.")
def show(*, file: str, as_json: bool) -> None:
    """Show what was spent on each data set, and every charge."""
    from covey.budget.ledger.ledger import Ledger
    from covey.budget.ledger.records import cost_of

    book = Ledger.open(file)
    report, entries = book.verify(), book.entries()
    released = {entry.charge for entry in entries if entry.kind == "release"}
    datasets = [
        {
            "dataset": account.dataset,
            "for": str(account.kind),
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
    zones = [
        {
            "dataset": account.dataset,
            "zone": name,
            "epsilon_spent": float(cost.epsilon),
            "delta_spent": float(cost.delta),
        }
        for account in report.datasets
        for name, cost in account.zones.items()
    ]
    head = {"sequence": report.head.sequence, "hash": report.head.hash}
    if as_json:
        document = {"ledger": report.ledger, "anchored": report.anchored, "head": head}
        click.echo(json.dumps({**document, "datasets": datasets, "zones": zones, "charges": charges}, indent=2))
        return
    for rows, numbers in ((datasets, range(2, 8)), (zones, (2, 3)), (charges, (0, 3, 4))):
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
@click.option(
    "--release", metavar="FILE", help="Also find the charge of this release, and compare it with the stored one."
)
def verify(*, file: str, release: str | None) -> None:
    """Check the chain of entries, the sums, the stored releases and the anchor."""
    from covey.budget.ledger.ledger import Ledger

    book = Ledger.open(file)
    report = book.verify()
    anchor = "its anchor agrees" if report.anchored else "it has no anchor, so an old copy could not be noticed"
    click.echo(
        f"{printable(file)}: in order. {report.entries} entries, {report.charges} charges, {report.releases} releases, "
        f"{report.unfinished} not finished; {anchor}.\nHead: entry {report.head.sequence}, {report.head.hash}"
    )
    if release is not None:
        click.echo(f"{printable(release)}: {compare(book, release)}")


def compare(book: Ledger, path: str) -> str:
    """Whether a file is the release that a charge of this ledger paid for; anything else raises a FormatError."""
    from covey.errors import FormatError, ParameterError
    from covey.published.coreset import files as coreset_files
    from covey.published.coreset.coreset import Coreset
    from covey.published.release import Release

    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"release: cannot read {path!r}: {error.strerror}") from None
    try:
        document = coreset_files.document_of(content)
        receipt = document["certificate"]["receipt"]
        ranges = document["certificate"]["parameters"].get("bounds", {}).get("receipt")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        receipt = ranges = None
    if not isinstance(receipt, str):
        none = "what was made without a ledger, a map and a merged coreset have none"
        raise FormatError(f"release: {path!r} holds no receipt: {none}")
    entry = book.find(receipt)
    before = book.find(ranges) if isinstance(ranges, str) else None  # what its private bounds were charged
    if entry is None or (ranges is not None and before is None):
        raise FormatError(f"release: the receipt of {path!r} is not in this ledger")
    stored = book.document(entry)
    if content == stored:
        payers = f"entry {entry}" if before is None else f"entry {entry}, and entry {before} for its private bounds,"
        return f"the release that {payers} paid for, byte by byte."
    with suppress(FormatError, ParameterError):  # what is stored has no coreset: levels, or centres alone
        if coreset_files.is_file_of(Coreset.of(Release.from_json(stored)), content):
            return f"the coreset of the release that entry {entry} paid for, and nothing else."
    raise FormatError(
        f"release: {path!r} shows the receipt of entry {entry}, but is not the release that is stored with it: it was "
        f"made from it (a level, a smaller coreset) or changed. `covey ledger export --entry {entry}` gives that one"
    )


@ledger.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--entry", required=True, type=click.IntRange(min=1), metavar="N", help="The charge, as `show` counts them."
)
@click.option("--out", required=True, metavar="FILE", help="Write the release here.")
@forced
def export(*, file: str, entry: int, out: str, force: bool) -> None:
    """Hand out the release that a charge paid for once more: the stored bytes, at no cost."""
    from covey.budget.ledger.ledger import Ledger
    from covey.files import write_whole

    book = Ledger.open(file)
    check_outputs([out], inputs=files_of(book), force=force)
    write_whole(out, book.document(entry))
    click.echo(f"Wrote {printable(out)}: the release of entry {entry}, at no cost.")

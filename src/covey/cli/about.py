"""What `covey profile` and `covey score` share: a release, rows, and an epsilon for one question about both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import fspath
from typing import TYPE_CHECKING, Any

import click

from covey.cli.fit import check_charged, kept_files, keyed_ledger, paid, publish
from covey.cli.options import Command, check_outputs, forced, read_rows_per_person
from covey.errors import need
from covey.files import File

if TYPE_CHECKING:
    from covey.published.release import Release

PNG = "Draw it here, as PNG: from the published numbers alone."


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options of a question about a release, as they were given."""

    epsilon: float | None
    neighbours: str | None
    person: str | None
    rows_per_person: str | None
    engine: str
    ledger_file: str | None
    dataset: str | None
    key: str | None
    out: str | None
    plot: str | None
    seed: int | None
    allow_seeded: bool
    as_json: bool
    quiet: bool
    force: bool


def question_options(command: Command) -> Command:
    """What is promised, what it is charged to, and where the answer goes."""
    for option in reversed(
        (
            click.option(
                "--neighbours",
                type=click.Choice(["add-remove", "replace-one"]),
                help="What is hidden. As in the release, if not given.",
            ),
            click.option("--person", metavar="NAME", help="The column that says whose a row is. As in the release."),
            click.option("--rows-per-person", metavar="M|auto", help="How many rows of a person count."),
            click.option(
                "--engine",
                type=click.Choice(["auto", "memory", "files"]),
                default="auto",
                show_default=True,
                help="Where rows are worked on: in memory, or streamed from files.",
            ),
            click.option("--ledger", "ledger_file", metavar="FILE", help="Charge the budget kept in this ledger."),
            click.option("--dataset", metavar="NAME", help="The data set's name in the ledger and in the certificate."),
            click.option("--key", metavar="KEY", help="With --ledger: the same key and request again costs nothing."),
            click.option("--out", metavar="FILE", help="Write the answer here, as JSON."),
            click.option("--plot", metavar="FILE", help=PNG),
            forced,
            click.option(
                "--seed", type=click.IntRange(min=0), metavar="N", help="Repeatable noise for tests: NOT PRIVATE."
            ),
            click.option("--allow-seeded", is_flag=True, help="Let files be written of an answer made with --seed."),
            click.option("--json", "as_json", is_flag=True, help="Print the document and nothing else."),
            click.option("--quiet", is_flag=True, help="Print nothing (except the document, with --json)."),
        )
    ):
        command = option(command)
    return command


def read_release(path: str) -> Release:
    """The release in a file; anything else has no centres."""
    from covey.published.reading import read_published
    from covey.published.release import Release

    found = read_published(path)
    if not isinstance(found, Release):
        raise click.UsageError("RELEASE: holds no centres; `covey query CORESET -k 5 --out release.json` finds some")
    return found


def ask(
    releases: Sequence[str],
    data: File,
    options: Asked,
    *,
    make: Callable[..., Any],
    show: Callable[[Any], None],
) -> None:
    """Check, pay and make, publish. `make` is given what the library asks for; `show` tells what was made."""
    from covey.files import write_whole
    from covey.terminal import progress_bar

    outputs = [path for path in (options.out, options.plot) if path is not None]
    check_charged(options, outputs)
    check_outputs(outputs, inputs=[*releases, fspath(data), *kept_files(options.ledger_file)], force=options.force)
    if options.plot is not None:
        need("plot", "--plot: a picture")
    book = keyed_ledger(options.ledger_file, options.key)
    rows = None if options.rows_per_person is None else read_rows_per_person(options.rows_per_person)
    with progress_bar(show=not options.quiet) as progress:
        made = paid(
            book,
            lambda: make(
                data,
                epsilon=options.epsilon,
                neighbours=options.neighbours,
                person=options.person,
                rows_per_person=rows,
                engine=options.engine,
                ledger=book,
                dataset=options.dataset,
                random_state=options.seed,
                progress=progress,
            ),
        )
    publish(
        made,
        options,
        files=[
            (options.out, lambda path: made.release.save(path)),
            (options.plot, lambda path: write_whole(path, made.release.plot())),
        ],
        document=made.release.to_json,
        show=lambda: show(made.release),
    )

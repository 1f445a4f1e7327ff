"""What a shell may offer for the words of a command: names of algorithms and data sets, files and folders.

Options are known by their names and by what their help calls their value, so that a new command completes by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import click
from click.shell_completion import CompletionItem

from covey.errors import CoveyError

Words = Callable[[click.Context], Iterable[str]]


def algorithms(_: click.Context) -> Iterable[str]:
    from covey.algorithms.registry import ALGORITHMS

    return ALGORITHMS


def methods(_: click.Context) -> Iterable[str]:
    from covey.algorithms.coreset_methods import METHODS

    return METHODS


def systems(context: click.Context) -> Iterable[str]:
    return [f"covey:{name}" for name in algorithms(context)] + ["diffprivlib", "sklearn"]


def benchmark_sets(_: click.Context) -> Iterable[str]:
    from covey.bench.sets import UTILITY

    return [each.name for each in UTILITY]


def files_of_sets(_: click.Context) -> Iterable[str]:
    from covey.bench.data.sources import SOURCES

    return [each.file for each in SOURCES]


def data_sets(context: click.Context) -> Iterable[str]:
    """Those of the ledger that the line names so far; none of a ledger that is not in order."""
    from covey.budget.ledger.ledger import Ledger

    file = context.params.get("ledger_file") or context.params.get("file")
    if file is None:
        return []
    try:
        return Ledger.open(file).datasets()
    except CoveyError:
        return []


NAMES: dict[str, Words] = {  # by option, or by what its help calls its value
    "--algorithm": algorithms,
    "--method": methods,
    "--dataset": data_sets,
    "--sets": benchmark_sets,
    "SETS": files_of_sets,
    "SYSTEM": systems,
}
PATHS = {
    **dict.fromkeys(("FILE", "DATA", "CORESET", "RELEASE", "TRACK", "LEDGER", "FILE|URL|none"), "file"),
    "DIR": "dir",
}


def prepare(group: click.Group) -> None:
    """Let every parameter below `group` whose words are known offer them."""
    for command in everything(group):
        for parameter in command.params:
            offer = offered(parameter)
            if offer is not None:
                parameter.shell_complete = offer  # type: ignore[method-assign, assignment]


def everything(group: click.Group) -> Iterator[click.Command]:
    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from everything(command)


def offered(parameter: click.Parameter) -> Callable[[click.Context, str], list[CompletionItem]] | None:
    for name in (*parameter.opts, parameter.metavar or ""):
        if name in NAMES:
            return partial(named, NAMES[name], "," if parameter.metavar == "NAMES" else "")
    kind = PATHS.get(parameter.metavar or (parameter.name or "").upper())
    return None if kind is None else partial(path, kind)


def named(words: Words, separator: str, context: click.Context, typed: str) -> list[CompletionItem]:
    """The words that go on with what was typed; in a list, with what comes after its last separator."""
    before, comma, last = typed.rpartition(separator) if separator else ("", "", typed)
    return [CompletionItem(before + comma + word) for word in words(context) if word.startswith(last)]


def path(kind: str, _: click.Context, typed: str) -> list[CompletionItem]:
    return [CompletionItem(typed, type=kind)]

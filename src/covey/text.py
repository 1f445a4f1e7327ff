"""What a person reads: tables and releases as plain lines. Knows nothing of rows, noise or budget."""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

_UP = Context(prec=2, rounding=ROUND_CEILING)
TINY, HUGE = 1e-10, 1e15  # beyond, numbers are told with an exponent
WIDTH = 88  # of paragraphs in a pipe, and the most on a terminal


COMMANDS = {  # what a message for Python says, as the command line knows it
    "`Ledger.create`": "`covey ledger init`",
    "`Ledger.add`": "`covey ledger add`",
    "`Ledger.datasets`": "`covey ledger show`",
    "`Ledger.entries`": "`covey ledger show`",
    "`Ledger.renew_anchor`": "`covey ledger renew-anchor`",
    "`Ledger.converting`": "--convert",
    "needs person=": "needs --person",
    "use neighbours='add-remove', or missing='middle'": "use --neighbours add-remove, or --missing middle",
    "`decimal=','`": "--decimal ,",
    "`decimal='.'`": "--decimal .",
    "`missing='drop'`": "--missing drop",
    "`extent='30km'`": "--extent 30km",
    "`bounds={'lon': (LOW, HIGH), 'lat': (LOW, HIGH)}`": "--bounds lon=LOW:HIGH,lat=LOW:HIGH",
}


def in_commands(message: str) -> str:
    """A message for people at the command line, or at a page that it serves: commands where it names calls."""
    for call, command in COMMANDS.items():
        message = message.replace(call, command)
    return message


def printable(text: object) -> str:
    """One line without control characters: names and paths come from files and may hold terminal codes."""
    line = " ".join(str(text).split())
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)


def paragraph(text: str) -> str:
    width = min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH
    return textwrap.fill(printable(text), width=max(20, width))


def show_table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()) -> None:
    """A table on stdout: drawn on a terminal, aligned plain text elsewhere. `right` are right-aligned columns."""
    head = [printable(cell) for cell in headers]
    body = [[printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _draw(head, body, right)
        return
    sys.stdout.write("".join(f"{line}\n" for line in aligned(head, body, right)))


def aligned(head: Sequence[str], body: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """The lines of a table in plain text."""
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = []
    for row in (head, ["-" * width for width in widths], *body):
        cells = (
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    return lines


def _draw(head: list[str], body: list[list[str]], right: Sequence[int]) -> None:
    """A table where it fits; on a narrow terminal one block of lines for each row."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    if sum(widths) + 3 * len(widths) > console.width:
        for row in body:
            block = Table(box=None, show_header=False, pad_edge=False, title=Text(row[0], "bold"), title_justify="left")
            for name, cell in zip(head[1:], row[1:], strict=True):
                block.add_row(Text(f"  {name}", "dim"), Text(cell))
            console.print(block, "")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(head):
        table.add_column(Text(name), justify="right" if i in right else "left")
    for row in body:
        table.add_row(*map(Text, row))  # Text: square brackets in a name are not markup
    console.print(table)


def number(value: float, span: float) -> str:
    """A coordinate to about a hundred-thousandth of its public range."""
    places = 4 - math.floor(math.log10(span)) if 1e-9 < span < 1e12 else None
    return f"{value:.6g}" if places is None else f"{value:.{max(0, places)}f}"


def how_many(size: float | None) -> str:
    return "not released" if size is None else f"{round(size):,}"


def counted(many: int, what: str) -> str:
    """How many things there are: 1 centre, 2 centres."""
    return f"{many:,} {what}{'' if many == 1 else 's'}"


def plain(value: float, *, up: bool = False) -> str:
    """Two digits, without an exponent but for absurd sizes. up : never less, for what is "at most" or "within"."""
    short = _UP.create_decimal(f"{value:.10g}") if up else f"{value:.2g}"  # what ten digits do not show is rounding
    if value and not TINY < abs(value) < HUGE:
        return f"{float(short):g}"  # no 0 for what is not, and no row of digits
    return f"{float(short):,.12f}".rstrip("0").rstrip(".")


def upward(value: float, digits: int) -> float:
    """A number with so many digits, never less than it is: what is said to be promised is not rounded down."""
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(value))


def outward(low: float, high: float, digits: int) -> tuple[float, float]:
    """The ends of an interval with so many digits, none rounded inward; what ten digits do not show is rounding."""
    down, up = (Context(prec=digits, rounding=each) for each in (ROUND_FLOOR, ROUND_CEILING))
    return float(down.create_decimal(f"{low:.10g}")), float(up.create_decimal(f"{high:.10g}"))


def listing(parts: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def which(numbers: object) -> str:
    """(numbers 4 and 17, counted from 0): which of a list were taken."""
    told = [str(each) for each in numbers if isinstance(each, int)] if isinstance(numbers, list) else []
    return f" (number{'s' if len(told) > 1 else ''} {listing(told)}, counted from 0)" if told else ""


def free_name(wanted: str, taken: Collection[str], *, key: Callable[[str], str] = str) -> str:
    """A name that is not taken: the wanted one, or that with underscores. key : what of names must differ."""
    while key(wanted) in taken:
        wanted += "_"
    return wanted


def own_names(columns: Sequence[str], taken: Collection[str]) -> list[str]:
    """The names of columns beside others that are taken; one that would be taken, or another column's, is changed."""
    return [name if name not in taken else free_name(name, {*taken, *columns}) for name in columns]


def in_words(value: object) -> str:
    """A value of a table: lists and parameters separated by commas, numbers in their short form."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={in_words(default)}" for name, default in value.items()) or "none"
    if isinstance(value, bool):
        return str(value).lower()  # as --param takes it
    if isinstance(value, float):
        return f"{value:.12g}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

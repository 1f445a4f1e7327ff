"""Which engine answers for a table: rows in memory, streamed from files, or on a cluster."""

from __future__ import annotations

from covey.errors import ParameterError
from covey.private.engine import Engine
from covey.private.memory import MemoryEngine
from covey.private.streaming import StreamEngine
from covey.private.tables import Table
from covey.public import Domain

ENGINES = ("memory", "files", "spark")


def check_engine(wanted: str, table: Table, *, what: str, engines: tuple[str, ...]) -> None:
    """Refuse an engine that cannot read this table, or on which `what` cannot run, before any charge."""
    if wanted == "files" and not _streamed(table):
        raise ParameterError("engine", "'files' reads paths; rows that are in memory already need engine='memory'")
    if wanted != "auto" and wanted not in engines:
        options = ", ".join(map(repr, ("auto", *engines)))
        raise ParameterError("engine", f"{what!r} runs on {options}")


def open_engine(wanted: str, table: Table, domain: Domain, *, engines: tuple[str, ...] = ENGINES) -> Engine:
    """The engine of a table. Files are streamed where `engines` allow it, and read into memory otherwise."""
    if wanted != "memory" and _streamed(table) and "files" in engines:
        return StreamEngine(table, domain)
    return MemoryEngine(table, domain)


def _streamed(table: Table) -> bool:
    """Whether the table is in files, and can be read again and again."""
    return bool(getattr(table, "streamed", False))

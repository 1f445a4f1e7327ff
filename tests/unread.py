"""A table of which nothing may be read: for tests of what happens before."""

from __future__ import annotations

from covey.private.tables.base import Table


class Unread(Table):
    """Rows that end the test when they are read or counted; all of their columns are numbers."""

    def __init__(self, *names: str) -> None:
        self.names, self.width = names, len(names)

    def check_numeric(self, columns) -> None:
        """Numbers all of them."""

    def coded(self, columns) -> Unread:  # noqa: ARG002
        return self

    def pieces(self, columns):  # noqa: ARG002
        raise AssertionError("rows were read")

    def rows(self) -> int:
        raise AssertionError("rows were counted")

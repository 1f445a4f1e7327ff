"""The owner's view: centres without privacy, for the person who holds the rows anyway, and that it was on."""

from __future__ import annotations

import threading
from typing import Any

from covey.private.owner import OwnersView
from covey.studio.data import Opened
from covey.studio.refusals import Refusal

OFF = "the owner's view is off; it shows centres without privacy and marks publications"


class Owner:
    """A switch that is off at first. ever : whether it was on in this run, with whatever data: that stays."""

    def __init__(self) -> None:
        self.on = self.ever = False
        self._reading = threading.Lock()
        self._kept: tuple[Opened, OwnersView] | None = None

    def switch(self, on: bool) -> None:
        self.on, self.ever = on, self.ever or on
        if not on:
            self._kept = None

    def close(self) -> None:
        """Off, because other rows were opened."""
        self.switch(False)

    def centres(self, data: Opened, k: int) -> Any:
        """k centres of at most 100,000 rows; who asks while they are read waits for the same."""
        if not self.on:
            raise Refusal(403, OFF)
        with self._reading:
            if self._kept is None or self._kept[0] is not data:
                view = OwnersView(data.source, data.domain)
                if self.on:
                    self._kept = data, view
            else:
                view = self._kept[1]
        return view.nonprivate_centres(k)

"""The slider on made-up rows within the same bounds, or on a public file: what a level is like, before any is paid for.

No row of the data is read, nothing is charged, and nothing of it can be published. The noise is seeded: nobody is in
these rows.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.checks import amount
from covey.errors import ParameterError
from covey.fit import slider
from covey.fit.session import heard_by
from covey.fit.zones import Zones
from covey.geo.clock import hand
from covey.post.random import public_rng
from covey.private.opening import with_ids
from covey.public import Person
from covey.studio.data import Opened, open_data
from covey.studio.view import Views

SEED = 1
PLACES, SPREAD, EVENLY = 9, (0.02, 0.07), 0.1  # clusters, their width as parts of the bounds, the share of rows between


class Rehearsal:
    """Each usual level alone, as it would be bought, of the same rows; one that nobody asked for is not computed."""

    def __init__(self, data: Opened, rows: int, *, zones: Zones | None, public: Any = None) -> None:
        self.asked = (data, rows, zones)
        self._zones = zones
        like = _opened_like(data, public, "a public file", data.person) if public is not None else _made_up(data, rows)
        self._data = like
        self._lock = threading.Lock()
        self._views: dict[int, Views] = {}

    def views(self, level: int) -> Views:
        with self._lock:
            if level not in self._views:
                self._views[level] = self._fit(slider.USUAL_LEVELS[level])
            return self._views[level]

    def _fit(self, level: slider.Level) -> Views:
        with heard_by(lambda curator: curator):  # nobody listens: it meets no rows of anybody
            found = slider.fit_levels(
                self._data.source,
                bounds=self._data.bounds,
                levels=[level],
                **self._data.asked,
                zones=stricter(self._zones, level.epsilon),
                random_state=SEED,
            )
        return Views(found, self._data)


def stricter(zones: Zones | None, epsilon: float) -> Zones | None:
    """The zones that a level leaves something to do: it may be as strict as they are everywhere."""
    kept = () if zones is None else tuple(each for each in zones.zones if each.epsilon < amount("epsilon", epsilon))
    return replace(zones, zones=kept) if zones is not None and kept else None


def _made_up(data: Opened, rows: int) -> Opened:
    """As many rows as somebody says, in a few places and between them; each person has as many as count."""
    if any(hand(name) is not None for name in data.columns):
        raise ParameterError("columns", "hours and weekdays have no rehearsal: look at the data, or open other columns")
    lower, upper = (np.array(ends) for ends in data.corners())
    places = made_up_places(rows, len(lower)) * (upper - lower) + lower
    if data.person.column is None:
        return _opened_like(data, places, "made-up rows", data.person)
    source, unit = with_ids(places, np.arange(rows) // data.person.rows)
    return _opened_like(data, source, "made-up rows", Person(unit, data.person.rows))


def made_up_places(rows: int, columns: int) -> NDArray[np.float64]:
    """Rows in [0, 1]^d from a public seed: some dense places, some wide ones, a few rows anywhere."""
    rng = public_rng(SEED)
    middles = rng.uniform(0.12, 0.88, (PLACES, columns))
    widths, shares = rng.uniform(*SPREAD, (PLACES, 1)), rng.uniform(0.3, 1.0, PLACES)
    which = rng.choice(PLACES, rows, p=shares / shares.sum())
    found = middles[which] + rng.normal(0, 1, (rows, columns)) * widths[which]
    anywhere = rng.random(rows) < EVENLY
    found[anywhere] = rng.random((int(anywhere.sum()), columns))
    return np.clip(found, 0.0, 1.0)


def _opened_like(data: Opened, source: Any, name: str, person: Person) -> Opened:
    lon, lat = data.map_names
    return open_data(
        source,
        bounds=data.bounds,
        name=name,
        dataset="rehearsal",
        lon=lon,
        lat=lat,
        person=person,
        missing=data.missing,
        scale=data.scale,
    )

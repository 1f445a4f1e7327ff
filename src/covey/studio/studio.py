"""The studio without its web server: which data is open, what was paid, what may be shown. One lock guards its state.

Rules that hold whatever a client sends: nothing of the data is shown before a look was confirmed at its price, and what
a rehearsal shows is made up; a look is charged once however many ask for it at the same time; zones and data stand
still from the look on; a level is "chosen in advance" only where nothing of its data set was seen before.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import covey
from covey.budget.ledger.ledger import Ledger
from covey.budget.ledger.records import Account
from covey.checks import amount
from covey.errors import CoveyError, ParameterError
from covey.files import File
from covey.fit import slider
from covey.fit.fit import fit
from covey.fit.zones import read_zones
from covey.private.tables.batches import Batches
from covey.published.certificate import UNCOVERED
from covey.published.coreset.coreset import Coreset
from covey.studio.data import Opened, batch_bounds, chosen_columns, declared_box, open_data
from covey.studio.jobs import Job, Progress
from covey.studio.ledger_page import ledger_page
from covey.studio.owner import Owner
from covey.studio.places import Asked
from covey.studio.prices import How, certified_levels, how_chosen, levels_for, offers, price_of
from covey.studio.profiles import profiled
from covey.studio.publications import Publications, certified, complete, made_up_ground
from covey.studio.refusals import Refusal, one_at_a_time
from covey.studio.rehearsal import Rehearsal
from covey.studio.settings import MOST_K, USUAL_K, Settings
from covey.studio.uploads import Uploads
from covey.studio.view import Views
from covey.studio.zoning import Drawn, drawn_zones

NO_DATA = "no data is open; upload a file and POST api/open, or start the studio with DATA or --demo"
NO_LEVEL = "there is no such level; they are 0 to {}"
NOT_LOOKED = "nothing may be shown before the look: POST api/look with its price"


class Studio:
    """One run of the studio."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        slider.check_person(settings.person, slider.USUAL_LEVELS, settings.zones)
        self._folder = Path(tempfile.mkdtemp(prefix="covey-studio-"))  # readable by this user alone
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # whatever way the process ends
        self.uploads = Uploads(self._folder, settings.limits)
        self.batches = Batches(most_bytes=settings.limits.batches)
        self.publications = Publications(settings.out)
        self._book: Ledger = settings.ledger or Ledger.memory(person=settings.person.column)
        self._lock = threading.RLock()
        self._fitting = threading.Lock()
        self._data: Opened | None = None
        self._first: Opened | None = None  # what the key of the command line stands for
        self._views: Views | None = None
        self._job: Job | None = None
        self._zones: Drawn | None = None
        self._rehearsal: Rehearsal | None = None
        self.owner = Owner()
        self._revision = 0
        if settings.data is not None:
            self._open(settings.data, settings.bounds, settings.name, settings.dataset)

    def close(self) -> None:
        """Stop what runs and remove everything that clients sent."""
        with self._lock:
            if self._job is not None:
                self._job.cancel()
        self.uploads.clear()

    # --- data ---------------------------------------------------------------------------------------------------------

    def _open(self, source: Any, bounds: Any, name: str, dataset: str | None) -> None:
        settings = self.settings
        chosen = dataset or settings.dataset or "data"
        opened = open_data(source, bounds=bounds, name=name, dataset=chosen, **settings.declared)
        with self._lock:
            zones = self._zones_for(opened)
            if self._job is not None and self._job.running:
                raise Refusal(409, "levels are being computed; wait for them or cancel them first")
            self._known(chosen)
            self._data, self._views, self._job, self._zones = opened, None, None, zones
            self.owner.close()
            self._revision += 1
            self._first = self._first or opened

    def _zones_for(self, opened: Opened) -> Drawn | None:
        """The zones that were drawn, if they can lie in the new data; else those of the command line."""
        if self._zones is not None:
            with suppress(CoveyError):
                return drawn_zones(self._zones.document, opened)
        return None if self.settings.zones is None else drawn_zones(self.settings.zones, opened)

    def _key_of(self, data: Opened, levels: Sequence[slider.Level]) -> str | None:
        """The idempotency key, for what was opened first alone: other rows have levels of their own, and so has each
        choice of levels."""
        if self.settings.key is None or data is not self._first:
            return None
        part = [] if len(levels) == len(slider.USUAL_LEVELS) else [each.name for each in levels]
        return ", ".join([self.settings.key, *part])

    def _known(self, dataset: str) -> None:
        """A data set of the ledger. One in memory takes any name; a file's totals are made by its keeper, not here."""
        if dataset not in self._book.datasets():
            if self._book.path is not None:
                raise ParameterError("dataset", "is not in the ledger; its keeper adds data sets and their totals")
            self._book.add(dataset, person=self.settings.person.column)

    def open_upload(self, upload: str, columns: Sequence[str] | None, lower: Any, upper: Any, dataset: Any) -> None:
        found = self.uploads.find(upload)
        wanted = chosen_columns(columns, found.columns, self.settings.person)
        self._open(found.source, declared_box(wanted, lower, upper), found.name, dataset)

    def close_batches(self, columns: Sequence[str] | None, ends: Any, dataset: str | None) -> None:
        """Make the batches the data set, with the bounds given here or on the command line."""
        bounds = batch_bounds(self.batches.width, columns, ends, usual=self.settings.bounds)
        with self.batches.closing() as rows:
            self._open(rows, bounds, "batches", dataset)

    def data_in_use(self) -> Path | None:
        with self._lock:
            source = None if self._data is None else self._data.source
        return Path(source) if isinstance(source, File) else None

    def _opened(self) -> Opened:
        if self._data is None:
            raise Refusal(409, NO_DATA)
        return self._data

    # --- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        with self._lock:
            data, views, basemap, account = self._data, self._views, self.settings.basemap, self._account()
            return {
                "version": covey.__version__,
                "revision": self._revision,
                "demo": self.settings.demo,
                "person": self.settings.people,
                "data": None if data is None else data.describe(),
                "offers": offers(account, seen=self.owner.ever, person=str(self.settings.person)),
                "levels": None if views is None else certified_levels(views.levels, self._how(views)),
                "price": price_of(account, None if views is None else views.levels.epsilon),
                "looked": views is not None,
                "rehearsal": self.settings.public_name or None,
                "job": None if self._job is None else self._job.describe(),
                "most_k": MOST_K,
                "zones": None if self._zones is None else self._zones.document,
                "basemap": {"kind": basemap.kind, "url": basemap.url},
                "owner": {"on": self.owner.on, "ever": self.owner.ever, "raw_available": data is not None},
                "ledger": self._book.path is not None,
                "seeded": self.settings.seed is not None,
            }

    def _account(self) -> Account | None:
        return None if self._data is None else self._book.datasets().get(self._data.dataset)

    def _how(self, views: Views) -> How:
        return how_chosen(self._book, views.data.dataset, views.levels, seen=self.owner.ever)

    # --- the look -----------------------------------------------------------------------------------------------------

    def look(self, epsilon: float, *, alone: bool = False) -> dict[str, Any]:
        """Pay once and compute the levels on a thread. Who asks for the same meanwhile or again is given the same job.

        alone : the level of that price, and no other; else all levels up to it.
        """
        levels = levels_for(epsilon, alone=alone)
        with self._lock:
            data = self._opened()
            if self._job is not None and (self._job.running or self._has(levels)):
                return self._job.describe()
            if data.domain.dimension not in slider.MOST_PER_AXIS:
                raise ParameterError("columns", "the slider shows 1 to 4 columns; open fewer, or POST api/releases")
            zones = None if self._zones is None else self._zones.zones
            read_zones(zones, epsilon=amount("epsilon", epsilon), domain=data.domain)
            left = price_of(self._account())["remaining"]
            if left is not None and left < epsilon and self._key_of(data, levels) is None:  # a key may have paid before
                raise Refusal(409, f"the look costs {epsilon:.12g}, but only {left:.12g} of the budget is left")
            self._job = Job(lambda progress, cancelled: self._compute(data, levels, zones, progress, cancelled))
            self._job.start()
            return self._job.describe()

    def _has(self, levels: Sequence[slider.Level]) -> bool:
        return self._views is not None and tuple(levels) == self._views.levels.levels

    def _compute(
        self, data: Opened, levels: Sequence[slider.Level], zones: Any, progress: Progress, cancelled: Any
    ) -> None:
        found = slider.fit_levels(
            data.source,
            bounds=data.bounds,
            levels=levels,
            **data.asked,
            zones=zones,
            ledger=self._book.with_key(self._key_of(data, levels)),
            dataset=data.dataset,
            random_state=self.settings.seed,
            progress=progress,
            cancelled=cancelled,
        )
        views = Views(found, data)
        views.draw_all(USUAL_K)
        with self._lock:
            if self._data is data:
                self._views = views
                self._revision += 1

    def job(self, job: str) -> Job:
        with self._lock:
            if self._job is None or self._job.id != job:
                raise Refusal(404, "there is no such job; GET api/state tells the present one")
            return self._job

    def views(self) -> Views:
        with self._lock:
            self._opened()
            if self._views is None:
                raise Refusal(409, NOT_LOOKED)
            return self._views

    def rehearsal(self, level: int, rows: int) -> Views:
        """One level of made-up rows (of the public file, if one was named): nothing is read, nothing is paid."""
        with self._lock:
            data, zones = self._opened(), None if self._zones is None else self._zones.zones
            if level >= len(slider.USUAL_LEVELS):
                raise Refusal(404, NO_LEVEL.format(len(slider.USUAL_LEVELS) - 1), parameter="level")
            if self._rehearsal is None or self._rehearsal.asked != (data, rows, zones):
                self._rehearsal = Rehearsal(data, rows, zones=zones, public=self.settings.public)
            rehearsal = self._rehearsal
        return rehearsal.views(level)

    def level(self, asked: Asked) -> bytes:
        return self.views_of(asked[0]).document(asked)

    def places(self, asked: Asked) -> dict[str, Any]:
        return self.views_of(asked[0]).places.ask(asked)

    def views_of(self, level: int) -> Views:
        views = self.views()
        if level >= len(views.levels.levels):
            raise Refusal(404, NO_LEVEL.format(len(views.levels.levels) - 1), parameter="level")
        return views

    def coreset(self, level: int) -> tuple[Coreset, Opened]:
        """The private coreset of a level, and what is public about its data: for questions that cost nothing."""
        views = self.views_of(level)
        return views.levels.coreset(level), views.data

    # --- zones, owner -------------------------------------------------------------------------------------------------

    def set_zones(self, zones: dict[str, Any] | None, *, revision: int | None = None) -> None:
        """Zones for the look to come. revision : of the state that the client saw; an older one is refused."""
        with self._lock:
            data = self._opened()
            if revision is not None and revision != self._revision:
                raise Refusal(409, "this was changed in another window; look at what there is now, and change that")
            if self._job is not None and (self._job.running or self._views is not None):
                raise Refusal(409, "zones take part in every level and stand still from the look on")
            self._zones = None if zones is None else drawn_zones(zones, data)
            self._revision += 1

    def set_owner(self, on: bool) -> None:
        with self._lock:
            self._opened()
            self.owner.switch(on)
            self._revision += 1

    def owner_centres(self, k: int) -> list[list[float]]:
        """Centres WITHOUT privacy, for the owner's eyes; refused unless the switch is on."""
        with self._lock:
            data = self._opened()
        return data.flat(self.owner.centres(data, k)).tolist()

    # --- publish, release, ledger -------------------------------------------------------------------------------------

    def publish(self, asked: Asked, name: str) -> dict[str, Any]:
        """Write what is on the slider now. It costs nothing more: the look was charged for every level of it."""
        self._not_seeded()
        level, k, objective, edges = asked
        views = self.views_of(level)
        with self._lock:
            how, zones = self._how(views), None if self._zones is None else self._zones.document
        coreset = views.levels.coreset(level, **how._asdict())
        release = views.levels.release(level, k, objective=objective, edges=edges, **how._asdict())
        entry = self.publications.add(
            complete(release, coreset, views.places.now(asked)),
            coreset,
            views.data,
            name=name,
            level=views.levels.levels[level].name,
            meaning=views.levels.meaning(level),
            zones=zones,
            ground=made_up_ground() if self.settings.demo and views.data is self._first else None,
        )
        return entry | {"certificate": certified(release.certificate, how.chosen)}

    def release(self, **asked: Any) -> bytes:
        """A release of its own for a program: charged, computed while the caller waits, one at a time."""
        self._not_seeded()
        with self._lock:
            data, zones = self._opened(), None if self._zones is None else self._zones.zones
            seen = self.owner.ever
        with one_at_a_time(self._fitting):
            return fit(
                data.source,
                bounds=data.bounds,
                **data.asked,
                zones=zones,
                ledger=self._book,
                dataset=data.dataset,
                random_state=self.settings.seed,
                choice=f"asked for with sight of raw data: {UNCOVERED}" if seen else None,
                **asked,
            ).to_json()

    def profile(self, asked: Asked, **question: Any) -> dict[str, Any]:
        """What is in the clusters on the slider: charged, computed while the caller waits, one at a time."""
        self._not_seeded()
        views = self.views_of(asked[0])
        with one_at_a_time(self._fitting):
            how = self._how(views)
            return profiled(views, asked, how, ledger=self._book, random_state=self.settings.seed, **question)

    def _not_seeded(self) -> None:
        if self.settings.seed is not None and not self.settings.allow_seeded:
            raise Refusal(409, "a seeded look is not private; --allow-seeded writes it to files all the same")

    def ledger(self) -> dict[str, Any]:
        """What was spent, when, on what; publications beside it, which cost nothing more than the look they are of."""
        return ledger_page(self._book, self.publications.listed())

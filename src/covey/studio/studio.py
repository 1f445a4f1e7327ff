"""The studio without its web server: which data is open, what was paid, what may be shown. One lock guards its state.

Rules that hold whatever a client sends: nothing is shown before the look was confirmed at its price; a look is charged
once however many ask for it at the same time; zones and data stand still from the look on; once the owner's view was
on, every publication says so.
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
from covey.errors import CoveyError, ParameterError
from covey.files import File
from covey.fit import slider
from covey.fit.fit import fit
from covey.private.owner import OwnersView
from covey.private.tables.batches import Batches
from covey.published.certificate import UNCOVERED
from covey.studio.alternatives import compare_sites
from covey.studio.data import Opened, batch_bounds, chosen_columns, declared_box, open_data
from covey.studio.jobs import Job, Progress
from covey.studio.ledger_page import ledger_page
from covey.studio.publications import Publications, complete, files_of
from covey.studio.refusals import Refusal
from covey.studio.settings import MOST_K, USUAL_K, Settings
from covey.studio.uploads import Uploads
from covey.studio.view import Views, promise
from covey.studio.zoning import Drawn, drawn_zones

NO_DATA = "no data is open; upload a file and POST api/open, or start the studio with DATA or --demo"
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
        self._fitting, self._looking = threading.Lock(), threading.Lock()
        self._data: Opened | None = None
        self._first: Opened | None = None  # what the key of the command line stands for
        self._views: Views | None = None
        self._job: Job | None = None
        self._zones: Drawn | None = None
        self._owner_on = self._owner_ever = False
        self._owners_view: OwnersView | None = None
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
            self._data, self._views, self._job, self._owners_view = opened, None, None, None
            self._zones, self._owner_on = zones, False
            self._first = self._first or opened

    def _zones_for(self, opened: Opened) -> Drawn | None:
        """The zones that were drawn, if they can lie in the new data; else those of the command line."""
        if self._zones is not None:
            with suppress(CoveyError):
                return drawn_zones(self._zones.document, opened)
        return None if self.settings.zones is None else drawn_zones(self.settings.zones, opened)

    def _key_of(self, data: Opened) -> str | None:
        """The idempotency key, for what was opened first alone: other rows have levels of their own."""
        return self.settings.key if data is self._first else None

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
            data, views, basemap = self._data, self._views, self.settings.basemap
            return {
                "version": covey.__version__,
                "demo": self.settings.demo,
                "person": self.settings.people,
                "data": None if data is None else data.describe(),
                "levels": [
                    {"index": i, "name": level.name, "epsilon": level.epsilon, "meaning": self._meaning(i)}
                    for i, level in enumerate(slider.USUAL_LEVELS)
                ],
                "price": self._price(),
                "looked": views is not None,
                "job": None if self._job is None else self._job.describe(),
                "most_k": MOST_K,
                "zones": None if self._zones is None else self._zones.document,
                "basemap": {"kind": basemap.kind, "url": basemap.url},
                "owner": {"on": self._owner_on, "ever": self._owner_ever, "raw_available": data is not None},
                "ledger": self._book.path is not None,
                "seeded": self.settings.seed is not None,
            }

    def _meaning(self, level: int) -> str:
        if self._views is not None:
            return self._views.levels.meaning(level)
        return promise(slider.USUAL_LEVELS[level].epsilon, str(self.settings.person))

    def _price(self) -> dict[str, Any]:
        account = None if self._data is None else self._book.datasets().get(self._data.dataset)
        remaining = None if account is None else account.remaining
        return {
            "epsilon": slider.price(slider.USUAL_LEVELS),
            "remaining": None if remaining is None else float(remaining.epsilon),
            "dataset": None if self._data is None else self._data.dataset,
        }

    def basemap(self) -> bytes:
        """The document that was given as a file on the command line."""
        content = self.settings.basemap.content
        if content is None:
            raise Refusal(404, "no base map was given as a file")
        return content

    # --- the look -----------------------------------------------------------------------------------------------------

    def look(self, epsilon: float) -> dict[str, Any]:
        """Pay once and compute all levels on a thread. Who asks meanwhile or again is given the same job."""
        with self._lock:
            data = self._opened()
            if self._job is not None and (self._job.running or self._views is not None):
                return self._job.describe()
            if data.domain.dimension not in slider.MOST_PER_AXIS:
                raise ParameterError("columns", "the slider shows 1 to 4 columns; open fewer, or POST api/releases")
            price = self._price()
            if epsilon != price["epsilon"]:
                raise Refusal(409, f"the price of a look is {price['epsilon']:g}, confirm that", parameter="epsilon")
            short = price["remaining"] is not None and price["remaining"] < price["epsilon"]
            if short and self._key_of(data) is None:  # under a key the look may have been paid for already
                raise Refusal(409, f"the look costs {epsilon:g}, but only {price['remaining']:g} of the budget is left")
            zones = None if self._zones is None else self._zones.zones
            self._job = Job(lambda progress, cancelled: self._compute(data, zones, progress, cancelled))
            self._job.start()
            return self._job.describe()

    def _compute(self, data: Opened, zones: Any, progress: Progress, cancelled: Any) -> None:
        found = slider.fit_levels(
            data.source,
            bounds=data.bounds,
            **data.asked,
            zones=zones,
            ledger=self._book.with_key(self._key_of(data)),
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

    def level(self, level: int, k: int, objective: str) -> bytes:
        return self._views_of(level).document(level, k, objective)

    def places(self, level: int, k: int, objective: str) -> dict[str, Any]:
        return self._views_of(level).places.ask((level, k, objective))

    def _views_of(self, level: int) -> Views:
        views = self.views()
        if level >= len(views.levels.levels):
            most = len(views.levels.levels) - 1
            raise Refusal(404, f"there is no such level; they are 0 to {most}", parameter="level")
        return views

    def compare(self, level: int, objective: str, sets: Any, forbidden: Any) -> dict[str, Any]:
        views = self._views_of(level)
        coreset = views.levels.coreset(level)
        return compare_sites(coreset, views.data, sets, objective=objective, forbidden=forbidden)

    # --- zones, owner -------------------------------------------------------------------------------------------------

    def set_zones(self, zones: dict[str, Any] | None) -> None:
        with self._lock:
            data = self._opened()
            if self._job is not None and (self._job.running or self._views is not None):
                raise Refusal(409, "zones take part in every level and stand still from the look on")
            self._zones = None if zones is None else drawn_zones(zones, data)

    def set_owner(self, on: bool) -> None:
        with self._lock:
            self._opened()
            self._owner_on = on
            self._owner_ever = self._owner_ever or on
            if not on:
                self._owners_view = None

    def owner_centres(self, k: int) -> list[list[float]]:
        """Centres WITHOUT privacy, for the owner's eyes; refused unless the switch is on."""
        with self._lock:
            data, view = self._opened(), self._owners_view
            if not self._owner_on:
                raise Refusal(403, "the owner's view is off; it shows centres without privacy and marks publications")
        if view is None:
            view = self._read_for_owner(data)
        return data.flat(view.nonprivate_centres(k)).tolist()

    def _read_for_owner(self, data: Opened) -> OwnersView:
        """Read some rows, without holding up the page; who asks meanwhile waits for the same."""
        with self._looking:
            with self._lock:
                if self._owners_view is not None and self._data is data:
                    return self._owners_view
            view = OwnersView(data.source, data.domain)
            with self._lock:
                if self._data is data and self._owner_on:
                    self._owners_view = view
            return view

    # --- publish, release, ledger -------------------------------------------------------------------------------------

    def publish(self, level: int, k: int, objective: str, name: str) -> dict[str, Any]:
        """Write what is on the slider now. It costs nothing more: the look was charged for every level of it."""
        self._not_seeded()
        views = self._views_of(level)
        with self._lock:
            chosen = "with sight of raw data" if self._owner_ever else "on the slider"
        coreset = views.levels.coreset(level, chosen=chosen)
        release = views.levels.release(level, k, objective=objective, chosen=chosen)
        release = complete(release, coreset, views.places.now((level, k, objective)))
        entry = self.publications.add(
            release,
            coreset,
            views.data,
            name=name,
            level=views.levels.levels[level].name,
            meaning=views.levels.meaning(level),
        )
        certificate = release.certificate
        return {
            **entry,
            "files": files_of(entry["id"]),
            "certificate": {
                "epsilon": certificate.epsilon,
                "delta": certificate.delta,
                "statement": certificate.statement,
                "chosen": chosen,
            },
        }

    def release(self, **asked: Any) -> bytes:
        """A release of its own for a program: charged, computed while the caller waits, one at a time."""
        self._not_seeded()
        with self._lock:
            data, zones = self._opened(), None if self._zones is None else self._zones.zones
            seen = self._owner_ever
        if not self._fitting.acquire(blocking=False):
            raise Refusal(429, "another release is being computed; ask again in a moment", retry=1)
        try:
            release = fit(
                data.source,
                bounds=data.bounds,
                **data.asked,
                zones=zones,
                ledger=self._book,
                dataset=data.dataset,
                random_state=self.settings.seed,
                choice=f"asked for with sight of raw data: {UNCOVERED}" if seen else None,
                **asked,
            )
        finally:
            self._fitting.release()
        return release.to_json()

    def _not_seeded(self) -> None:
        if self.settings.seed is not None and not self.settings.allow_seeded:
            raise Refusal(409, "a seeded look is not private; --allow-seeded writes it to files all the same")

    def ledger(self) -> dict[str, Any]:
        """What was spent, when, on what; publications beside it, which cost nothing more than the look they are of."""
        return ledger_page(self._book, self.publications.listed())

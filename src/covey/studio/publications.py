"""What was published: three files in a folder of its own, named by us, written whole, listed again after a restart.

No file holds a time: a folder may be sent as it is. When something was published, the file system tells its owner.
"""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from covey.errors import DataError
from covey.files import write_whole
from covey.published.coreset.coreset import Coreset
from covey.published.errors import Errors
from covey.published.export import shapes
from covey.published.release import Release, WeightedPoints
from covey.published.report import letters, report
from covey.studio.data import Opened
from covey.studio.refusals import Refusal
from covey.studio.settings import new_id

FILES = {"release.json": "release", "release.geojson": "geojson", "report.html": "report"}
TYPES = {"release.json": "application/json", "release.geojson": "application/geo+json", "report.html": "text/html"}
INDEX = "publication.json"
_ID = re.compile(r"[0-9a-f]{16}")


class Publications:
    """The publications in one folder. The folder is made when the first one is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob(f"*/{INDEX}")) if folder.is_dir() else ():
            found = _read(path)
            if found is not None and _ID.fullmatch(path.parent.name):
                self._known[path.parent.name] = found

    def add(
        self, release: Release, coreset: Coreset, data: Opened, *, name: str, level: str, meaning: str
    ) -> dict[str, Any]:
        """Write the three files, then the index: a publication is listed when all of it is there."""
        key = new_id()
        target = self._folder / key
        try:
            target.mkdir(parents=True)
        except OSError as error:
            raise DataError(f"out: the folder of publications cannot be written to: {error.strerror}") from None
        contents = {
            "release.json": release.to_json(),
            "release.geojson": json.dumps(shapes(release, data.plane), indent=2).encode(errors="replace"),
            "report.html": report(
                release,
                data.plane,
                name=name,
                about=f"{len(release.centres)} centres ({release.objective}) of {data.name}, privacy level “{level}”",
                coreset=coreset,
                meaning=meaning,
                labels=[letters(i) for i in range(len(release.centres))],
            ),
        }
        certificate = release.certificate
        entry = {
            "id": key,
            "name": name,
            "level": level,
            "k": len(release.centres),
            "objective": release.objective,
            "epsilon": certificate.epsilon,
            "dataset": certificate.dataset,
            "seeded": certificate.seeded,
            "chosen": certificate.parameters.get("chosen"),
            "receipt": certificate.receipt,
        }
        for file, content in contents.items():
            write_whole(target / file, content)
        write_whole(target / INDEX, json.dumps(entry, indent=2).encode(errors="replace"))
        entry["time"] = _written(target / INDEX)
        with self._lock:
            self._known[key] = entry
        return entry

    def listed(self) -> list[dict[str, Any]]:
        """Every publication with the addresses of its files, oldest first."""
        with self._lock:
            entries = sorted(self._known.items(), key=lambda each: str(each[1].get("time")))
        return [{**entry, "id": key, "files": files_of(key)} for key, entry in entries]

    def content(self, publication: str, file: str) -> bytes:
        """One file. What a client sends is looked up, never opened: the path is made of our own names."""
        with self._lock:
            known = publication in self._known
        if not known or file not in FILES:
            raise Refusal(404, "there is no such publication; GET api/publications lists them")
        name = next(each for each in FILES if each == file)
        try:
            return (self._folder / next(key for key in self._known if key == publication) / name).read_bytes()
        except OSError:
            raise Refusal(404, "this publication's file was removed from the folder") from None


def complete(release: Release, coreset: Coreset, errors: Errors | None) -> Release:
    """The release with all its errors and the weighted points it was made of: readers can ask for their own centres."""
    points = WeightedPoints(
        points=coreset.points.tolist(),
        weights=coreset.weights.tolist(),
        cells=None if coreset.cells is None else coreset.cells.tolist(),
        spreads=None if coreset.spreads is None else coreset.spreads.tolist(),
        noise=coreset.noise,
    )
    return msgspec.structs.replace(release, coreset=points, errors=errors)


def files_of(key: str) -> list[dict[str, str]]:
    return [{"name": name, "kind": kind, "url": f"api/publications/{key}/{name}"} for name, kind in FILES.items()]


def _read(path: Path) -> dict[str, Any] | None:
    """An index that was written before, or None where somebody else's file lies in its place."""
    try:
        found, time = json.loads(path.read_bytes()[: 2**20]), _written(path)
    except (OSError, ValueError, RecursionError):
        return None
    return {**found, "time": time} if isinstance(found, dict) and {"id", "name"} <= set(found) else None


def _written(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()

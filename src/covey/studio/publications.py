"""What was published: three files in a folder of its own, written whole, listed again after a restart.

They are named after the data and its level, in letters that every system takes. No file holds a time: a folder may be
sent as it is. When something was published, the file system tells its owner.
"""

from __future__ import annotations

import json
import re
import threading
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from covey.errors import DataError
from covey.files import write_whole
from covey.published.certificate import Certificate
from covey.published.coreset.coreset import Coreset
from covey.published.errors import Errors
from covey.published.export import shapes
from covey.published.page.ground import Ground, drawn_ground
from covey.published.release import Release, WeightedPoints
from covey.published.report import letters, report
from covey.studio.data import Opened
from covey.studio.refusals import Refusal
from covey.studio.settings import new_id

KINDS = {".json": "release", ".geojson": "geojson", ".html": "page"}
TYPES = {".html": "text/html", ".json": "application/json", ".geojson": "application/geo+json"}
INDEX = "publication.json"
LONGEST_STEM = 80
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
        self,
        release: Release,
        coreset: Coreset,
        data: Opened,
        *,
        name: str,
        level: str,
        meaning: str,
        zones: dict[str, Any] | None,
        ground: Ground | None,
    ) -> dict[str, Any]:
        """Write the three files, then the index: a publication is listed when all of it is there.

        zones : those that took part, which are public. ground : what lies under the map, if not the bundled outlines.
        """
        key = new_id()
        target = self._folder / key
        try:
            target.mkdir(parents=True)
        except OSError as error:
            raise DataError(f"out: the folder of publications cannot be written to: {error.strerror}") from None
        page = report(
            release,
            data.plane,
            name=name,
            about=f"{len(release.centres)} centres ({release.objective}) of {data.name}, privacy level “{level}”",
            coreset=coreset,
            meaning=meaning,
            labels=[letters(i) for i in range(len(release.centres))],
            zones=[] if zones is None else zones["features"],
            ground=ground,
        )
        layer = json.dumps(shapes(release, data.plane), indent=2).encode(errors="replace")
        stem = stem_of(data.name, level)
        contents = {".html": page, ".json": release.to_json(), ".geojson": layer}
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
        for ending, content in contents.items():
            write_whole(target / f"{stem}{ending}", content)
        write_whole(target / INDEX, json.dumps(entry, indent=2).encode(errors="replace"))
        entry |= {"time": _written(target / INDEX), "files": _files(target)}
        with self._lock:
            self._known[key] = entry
        return entry

    def listed(self) -> list[dict[str, Any]]:
        """Every publication with the addresses of its files, oldest first."""
        with self._lock:
            entries = sorted(self._known.items(), key=lambda each: str(each[1].get("time")))
        return [{**entry, "id": key} for key, entry in entries]

    def content(self, publication: str, file: str) -> tuple[bytes, str]:
        """One file and its ending. What a client sends is looked up, never opened: names are those that were found."""
        with self._lock:
            known = self._known.get(publication, {"files": ()})
        name = next((each["name"] for each in known["files"] if each["name"] == file), None)
        if name is None:
            raise Refusal(404, "there is no such publication; GET api/publications lists them")
        try:
            key = next(key for key in self._known if key == publication)
            return (self._folder / key / name).read_bytes(), Path(name).suffix
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


def certified(certificate: Certificate, chosen: str) -> dict[str, Any]:
    """What the page shows of a certificate right after publishing."""
    amounts = {"epsilon": certificate.epsilon, "delta": certificate.delta}
    return amounts | {"statement": certificate.statement, "chosen": chosen}


def made_up_ground() -> Ground:
    """The land, the river and the streets of the demo's city."""
    return drawn_ground(json.loads((Path(__file__).parent / "page" / "demo-city.json").read_bytes()))


def stem_of(name: str, level: str) -> str:
    """What files are called: the data's name without its ending, and its level, in plain letters."""
    words = f"{Path(name).stem if Path(name).suffix.isascii() else name} {level}"
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_STEM].strip("-") or "release"


def _files(folder: Path) -> list[dict[str, str]]:
    """The files of a publication that are in its folder, the release first."""
    found = sorted(path for path in folder.iterdir() if path.suffix in KINDS and path.name != INDEX)
    found.sort(key=lambda path: list(KINDS).index(path.suffix))
    return [
        {"name": path.name, "kind": KINDS[path.suffix], "url": f"api/publications/{folder.name}/{path.name}"}
        for path in found
    ]


def _read(path: Path) -> dict[str, Any] | None:
    """An index that was written before, or None where somebody else's file lies in its place."""
    try:
        found, more = json.loads(path.read_bytes()[: 2**20]), {"time": _written(path), "files": _files(path.parent)}
    except (OSError, ValueError, RecursionError):
        return None
    return found | more if isinstance(found, dict) and {"id", "name"} <= set(found) else None


def _written(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()

"""A client of the studio for tests: real routes, real guard, real levels; only the socket is left out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from covey import Box
from covey.studio.app import make_app
from covey.studio.settings import Limits, Settings

BOUNDS = Box(lon=(-74.1, -73.9), lat=(40.7, 40.9))
MARK = {"X-Covey-Studio": "1"}
GENEROUS = Limits(reads=1e6, changes=1e6, strangers=1e6)
TOKEN = "a-token-for-tests-0123456789"


def town(rows: int = 3000, seed: int = 1) -> np.ndarray:
    """Three round neighbourhoods."""
    rng = np.random.default_rng(seed)
    middles = np.array([[-74.05, 40.75], [-73.95, 40.74], [-74.0, 40.85]])
    return middles[rng.integers(0, 3, rows)] + rng.normal(0, 0.008, (rows, 2))


def csv_of(points: np.ndarray, path: Path) -> Path:
    path.write_text("lon,lat\n" + "".join(f"{x!r},{y!r}\n" for x, y in points.tolist()))
    return path


class Asking:
    """Requests with what a page sends by itself; `guarded` is the application."""

    def __init__(self, settings: Settings) -> None:
        self.guarded = make_app(settings)
        self.settings = settings
        self.client = TestClient(
            self.guarded, base_url=f"http://127.0.0.1:{settings.port}", raise_server_exceptions=False
        )

    @property
    def studio(self) -> Any:
        return self.guarded._app.state.studio

    @property
    def routes(self) -> list[Any]:
        """All routes, those of included routers too."""
        found, waiting = [], list(self.guarded._app.routes)
        while waiting:
            route = waiting.pop(0)
            inner = getattr(route, "original_router", None)
            if inner is None:
                found.append(route)
            else:
                waiting += inner.routes
        return found

    def ask(self, method: str, path: str, **more: Any) -> Any:
        headers = {**(MARK if method not in ("GET", "HEAD") else {}), **more.pop("headers", {})}
        return self.client.request(method, f"/{self.settings.token}/{path}", headers=headers, **more)

    def get(self, path: str, **more: Any) -> Any:
        return self.ask("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return self.ask("POST", path, **({} if body is None else {"json": body}), **more)

    def look(self) -> None:
        """Pay and wait for the levels."""
        price = self.get("api/state").json()["price"]["epsilon"]
        job = self.post("api/look", {"confirm": True, "epsilon": price})
        assert job.status_code == 202, job.text
        self.wait(job.json()["id"])

    def wait(self, job: str, *, ends: str = "done") -> dict[str, Any]:
        end = time.monotonic() + 240
        while (found := self.get(f"api/job/{job}").json())["state"] == "running" and time.monotonic() < end:
            time.sleep(0.02)
        assert found["state"] == ends, found
        return found


def asking(tmp_path: Path, **changes: Any) -> Asking:
    """A studio over the town, unless told otherwise."""
    given: dict[str, Any] = {"data": town(), "bounds": BOUNDS, "name": "town", "limits": GENEROUS, "token": TOKEN}
    return Asking(Settings(out=tmp_path / "published", **(given | changes)))

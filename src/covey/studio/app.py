"""The web application: routes, the page's files, errors in plain words, and the guard around all of it."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

import covey
from covey.errors import CoveyError
from covey.studio import refusals
from covey.studio.guard import Guard
from covey.studio.routes import router
from covey.studio.settings import Settings
from covey.studio.studio import Studio

HERE = Path(__file__).parent
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".geojson": "application/geo+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
NO_PAGE = (
    "<!doctype html><title>Covey studio</title><p>The page of the studio is not part of this installation. "
    "The API works: see <code>docs</code> beside this address.</p>"
)


def make_app(settings: Settings) -> Any:
    """The guarded application. Its studio is at `.app.state.studio`."""
    return Guard(make_inner(settings), settings)


def make_inner(settings: Settings) -> FastAPI:
    """The application without its guard: for tests that list its routes."""
    studio = Studio(settings)

    @asynccontextmanager
    async def until_the_end(_: FastAPI) -> AsyncIterator[None]:
        yield
        studio.close()

    app = FastAPI(
        title="Covey studio",
        version=covey.__version__,
        description="Private centres of location data: look at privacy levels, compare sites, publish.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        servers=[{"url": ".", "description": "below the token"}],
        root_path_in_servers=False,
        lifespan=until_the_end,
        redirect_slashes=False,
        exception_handlers={
            refusals.Refusal: refusals.on_refusal,
            CoveyError: refusals.on_covey_error,
            HTTPException: refusals.on_http_error,
            RequestValidationError: refusals.on_invalid,
            Exception: refusals.on_bug,
        },
    )
    app.state.studio = studio
    app.include_router(router)
    files = page_files()

    @app.get("/{file:path}", include_in_schema=False)
    def page(request: Request, file: str) -> Response:
        """A file of the page. The name is looked up among those that were found at the start, never opened."""
        found = files.get(file or "index.html")
        if found is None:
            if not file:
                return Response(NO_PAGE, media_type="text/html")
            raise HTTPException(404)
        if not file.startswith("assets/"):
            return Response(found.read_bytes(), media_type=KINDS[found.suffix])
        small = "gzip" in request.headers.get("accept-encoding", "")
        headers = {"Vary": "Accept-Encoding"} | ({"Content-Encoding": "gzip"} if small else {})
        content = compressed(found) if small else found.read_bytes()
        return Response(content, media_type=KINDS[found.suffix], headers=headers)

    return app


@lru_cache(maxsize=64)
def compressed(path: Path) -> bytes:
    """An asset with gzip; it stays as it is while the studio runs."""
    return gzip.compress(path.read_bytes(), 6, mtime=0)


def page_files() -> dict[str, Path]:
    """Address -> file: the page itself, and its library and outlines below assets/."""
    found = {}
    for folder, prefix in ((HERE / "page", ""), (HERE / "assets", "assets/")):
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix in KINDS:
                found[prefix + path.relative_to(folder).as_posix()] = path
    return found

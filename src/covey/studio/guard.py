"""The door of the web server: who may ask, how often, how much. Every request passes here before any route sees it.

In this order: rate limit, Host, Origin, token or cookie and key (in constant time), the header that marks a
state-changing request, content type, length. Then every answer, refusals too, leaves with the security headers. A
route added later is covered by itself.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from html import escape
from typing import Any

from fastapi import HTTPException  # not Starlette's: FastAPI would make a 400 of that
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from covey.studio.entry import same
from covey.studio.refusals import Refusal
from covey.studio.settings import Limits, Settings

READS = ("GET", "HEAD", "OPTIONS")
MARK = "x-covey-studio"
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
UPLOADS = "/api/uploads"
BATCHES = "/api/batches"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
NO_TOKEN = "this address has no token, or that of an earlier run; use the whole address that the studio printed"
NO_KEY = "this window has not the key (the header X-Covey-Studio) that a link leaves, or that of an earlier token"
NEEDS_NO_KEY = re.compile(
    r"/|/index\.html|/icon\.svg|/demo-city\.json|/(css|js|assets)/.*|/api/basemap|/api/publications/\w+/.+"
)
USED = "this link has been opened before, and opens once"
ASSETS_KEPT = "private, max-age=86400, immutable"  # public files that stand still while the studio runs


class Bucket:
    """So many requests a second, with a burst; safe on several threads."""

    def __init__(self, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left, self._seen = burst, clock()
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Take one; 0, or the seconds until there is one to take."""
        with self._lock:
            now = self._clock()
            self._left = min(self._burst, self._left + (now - self._seen) * self._rate)
            self._seen = now
            if self._left >= 1:
                self._left -= 1
                return 0.0
            return (1 - self._left) / self._rate


def content_policy(origin: str | None) -> str:
    """What the page may load: its own files, and the base map's origin where one was given on the command line."""
    elsewhere = f" {origin}" if origin else ""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "worker-src 'self' blob:",
            "style-src 'self' 'unsafe-inline'",
            f"img-src 'self' data: blob:{elsewhere}",
            f"connect-src 'self'{elsewhere}",
            "font-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


class Guard:
    """An ASGI application around another: refuses, limits, and adds the headers."""

    def __init__(self, app: Any, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._policy = content_policy(settings.basemap.origin)
        self._entry = settings.entry
        limits = settings.limits
        self._reads, self._changes, self._strangers = (
            Bucket(rate, max(1.0, rate * limits.burst_seconds))
            for rate in (limits.reads, limits.changes, limits.strangers)
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSockets
            return
        answer = self._with_headers(send, assets=route_of(scope).startswith("/assets/"))
        try:
            inner = self._admitted(scope)
        except Refusal as refusal:
            inner = self._told(scope, refusal)
        if isinstance(inner, Response):
            await inner(scope, receive, answer)
            return
        with suppress(Exception):  # answered by then (refusals.on_bug); a log would repeat its message, and so values
            await self._app(inner, self._counted(inner, receive), answer)

    def _admitted(self, scope: Any) -> Any:
        """The scope with its secret taken off its path, the answer to a link that opens once, or a Refusal."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        foreign = len(hosts) != 1 or hosts[0].lower() not in self._settings.hosts
        head, slash, rest = scope["path"].removeprefix("/").partition("/")
        program = same(head, self._settings.token)
        stranger = not slash or not (program or self._entry.known(head, headers.getlist("cookie")))
        change = scope["method"] not in READS
        closed = not program and (change or not NEEDS_NO_KEY.fullmatch(route_of(scope)))
        keyless = closed and not self._entry.holds(headers.get(MARK, ""))
        unknown = foreign or stranger or keyless
        self._not_too_often(self._strangers if unknown else self._changes if change else self._reads)
        if foreign:
            raise Refusal(403, "the Host of this request is not this studio's; use the address that it printed")
        self._same_origin(headers)
        if stranger:
            opened = None if rest or not slash or not _is_visit(scope, headers) else self._entry.exchange(head)
            if opened is None:
                raise Refusal(403, USED if self._entry.was_opened(head) else NO_TOKEN)
            return opened
        if keyless:
            raise Refusal(403, NO_KEY)
        if program and not rest and headers.get("sec-fetch-mode") == "navigate" and _is_visit(scope, headers):
            return self._entry.exchange(self._entry.new_link())  # a browser leaves the token behind
        if change:
            if program and headers.get(MARK) != "1":
                raise Refusal(403, "a request that changes something must carry the header X-Covey-Studio: 1")
            self._content_type(scope, headers)
        self._length(scope, headers)
        return {**scope, "root_path": f"/{head}"}

    def _told(self, scope: Any, refusal: Refusal) -> Response:
        """A refusal, as a page for somebody who reads it in a browser."""
        if scope["method"] != "GET" or "text/html" not in Headers(scope=scope).get("accept", ""):
            return refusal.response()
        room = self._entry.room if refusal.message == USED else None
        return Response(page_of(refusal, room), refusal.status, media_type="text/html")

    def _not_too_often(self, bucket: Bucket) -> None:
        seconds = bucket.wait()
        if seconds:
            raise Refusal(429, "too many requests; wait a moment", retry=math.ceil(seconds))

    def _same_origin(self, headers: Headers) -> None:
        """A browser says where a request comes from; a program says nothing, and needs the token all the same."""
        for origin in headers.getlist("origin"):
            scheme, _, host = origin.partition("://")
            if scheme != "http" or host.lower() not in self._settings.hosts:
                raise Refusal(403, "this request comes from another page (its Origin is not this studio's)")
        elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")  # another port is the same site
        if elsewhere and headers.get("sec-fetch-mode") != "navigate":
            raise Refusal(403, "this request comes from another page")

    def _content_type(self, scope: Any, headers: Headers) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        upload = route_of(scope).rstrip("/") == UPLOADS
        if upload and (kind in FORMS or not has_body):
            raise Refusal(415, "send the file itself as the body, as application/octet-stream, not as a form")
        if not upload and has_body and kind != "application/json":
            raise Refusal(415, "the body must be JSON, with the header Content-Type: application/json")

    def _length(self, scope: Any, headers: Headers) -> None:
        declared = headers.get("content-length", "0")
        if not (declared.isascii() and declared.isdigit()):
            raise Refusal(400, "the Content-Length is not a number")
        if len(declared) > 18 or int(declared) > largest_body(scope, self._settings.limits):
            raise too_large(scope, self._settings.limits)

    def _counted(self, scope: Any, receive: Any) -> Any:
        """`receive` that stops at the limit, whatever length was declared or not declared."""
        left = largest_body(scope, self._settings.limits)

        async def counted() -> Any:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, too_large(scope, self._settings.limits).message)
            return message

        return counted

    def _with_headers(self, send: Any, *, assets: bool) -> Any:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if assets and message["status"] == 200:
                    headers["Cache-Control"] = ASSETS_KEPT
                headers.setdefault("Content-Security-Policy", self._policy)
            await send(message)

        return sending


def _is_visit(scope: Any, headers: Headers) -> bool:
    """Whether somebody opens an address, and not a browser that thinks they might."""
    return scope["method"] == "GET" and "prefetch" not in headers.get("sec-purpose", headers.get("purpose", ""))


def page_of(refusal: Refusal, room: str | None) -> str:
    """A refusal for somebody who reads it in a browser, as who opens an address without its token does.

    room : where a link that was used has led to, for the browser that used it.
    """
    again = "" if room is None else f'<p>If it was you, in this browser, <a href="/{room}/">go on there</a>.</p>'
    return (
        '<!doctype html><html lang="en"><title>Covey Studio</title><meta name="viewport" content="width=device-width">'
        '<link rel="icon" href="data:,">'
        "<style>body{font:17px/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1.5em;"
        "color-scheme:light dark}</style><h1>This is a Covey studio</h1>"
        f"<p>It did not let you in: {escape(refusal.message)}.</p>{again}"
        "<p>The terminal that <code>covey studio</code> was started in shows the link that opens it. Started again, it "
        "shows another.</p></html>"
    )


def route_of(scope: Any) -> str:
    """The path after the token."""
    return "/" + str(scope["path"]).removeprefix("/").partition("/")[2]


def largest_body(scope: Any, limits: Limits) -> int:
    return {UPLOADS: limits.upload, BATCHES: limits.batch}.get(route_of(scope).rstrip("/"), limits.body)


def too_large(scope: Any, limits: Limits) -> Refusal:
    return Refusal(413, f"the body is larger than {size(largest_body(scope, limits))}, the most that is taken here")


def size(count: int) -> str:
    """A number of bytes for a person."""
    for unit, power in (("GB", 30), ("MB", 20), ("KB", 10)):
        if count >= 2**power:
            return f"{count / 2**power:g} {unit}"
    return f"{count} bytes"

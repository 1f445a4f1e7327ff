"""Start the studio: bind the socket, tell the address, open the browser, serve until interrupted."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import re
import signal
import socket
import sys
import tempfile
import webbrowser
from html import escape
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from covey.errors import DataError, FormatError, ParameterError
from covey.studio.settings import NOT_EVERY_ADDRESS, Basemap, Settings

LARGEST_BASEMAP = 2**26
_ORIGIN = re.compile(r"https?://(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?")


def listen(host: str, port: int) -> socket.socket:
    """A socket on the address; port 0 takes any that is free."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        if ip_address(str(address[0]).partition("%")[0]).is_unspecified:
            raise ParameterError("host", NOT_EVERY_ADDRESS)
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "not an address of this machine"
        taken = getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
        advice = "choose another one, or leave --port out" if taken else "name an address of this machine"
        name = "port" if taken else "host"
        raise ParameterError(name, f"cannot listen on {host} port {port}: {reason}; {advice}") from None
    return bound


def serve(settings: Settings, *, browser: bool, say: Any) -> None:
    """Serve until Ctrl-C. Requests are not logged: their addresses may hold a token."""
    import uvicorn

    from covey.studio.app import make_app

    with listen(settings.host, settings.port) as bound:
        known = dataclasses.replace(settings, port=bound.getsockname()[1])
        app = make_app(known)
        bound.listen(64)  # whoever reads the address may ask at once, and waits until the server runs
        say(known, link := known.new_link())
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=64,
                timeout_graceful_shutdown=3,
                ws="none",
                lifespan="on",
            )
        )
        end_in_order()
        with opened_browser(link) if browser else contextlib.nullcontext():
            server.run(sockets=[bound])


def end_in_order() -> None:
    """A signal to end and a closed terminal do what Ctrl-C does: nothing stays of what clients sent, nor the token."""
    with contextlib.suppress(ValueError, AttributeError):  # not on the main thread; no such signal on this system
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # the server raises it again when it has stopped
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # under nohup it stays ignored
            signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


@contextlib.contextmanager
def opened_browser(address: str) -> Any:
    """Open the page by a private file: on a browser's command line other users of the machine could read the token."""
    handle, name = tempfile.mkstemp(prefix="covey-studio-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}"><p>Covey studio</p>')
    try:
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)


def read_basemap(given: str | None) -> Basemap:
    """`none`, an address, or a file with GeoJSON, a map style or PMTiles; without any, the bundled map."""
    if given is None:
        return Basemap()
    if given == "none":
        return Basemap(kind="none")
    if "://" in given:
        parts = urlsplit(given)
        origin = f"{parts.scheme}://{parts.netloc}".lower()
        if not _ORIGIN.fullmatch(origin):
            raise ParameterError("basemap", "must be an http or https address, a file, or none")
        kind = "geojson" if parts.path.lower().endswith(".geojson") else "style"
        return Basemap(kind=kind, url=given, origin=origin)
    if given.lower().endswith(".pmtiles"):
        return read_tiles(Path(given))
    content = read_file("basemap", given, largest=LARGEST_BASEMAP)
    document = parse("basemap", given, content)
    kind = "style" if "layers" in document and "version" in document else "geojson"
    if kind == "geojson" and "type" not in document:
        raise FormatError(f"basemap: {given!r} is neither GeoJSON nor a map style")
    return Basemap(kind=kind, url="api/basemap", content=content)


def read_tiles(path: Path) -> Basemap:
    """A file of map tiles, of which the page asks for the parts that it needs."""
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise DataError(f"basemap: cannot read {str(path)!r}: {error.strerror}") from None
    if start != b"PMTiles\x03":
        raise FormatError(f"basemap: {str(path)!r} is not a file of map tiles (PMTiles, version 3)")
    return Basemap(kind="pmtiles", url="api/basemap", path=path.absolute())


def read_document(name: str, path: str) -> dict[str, Any]:
    """A JSON object that somebody named on the command line."""
    return parse(name, path, read_file(name, path, largest=2**24))


def read_file(name: str, path: str, *, largest: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise DataError(f"{name}: cannot read {path!r}: {error.strerror}") from None
    if len(content) > largest:
        raise DataError(f"{name}: {path!r} is larger than {largest >> 20} MB")
    return content


def parse(name: str, path: str, content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise FormatError(f"{name}: {path!r} is not a JSON document")
    return document

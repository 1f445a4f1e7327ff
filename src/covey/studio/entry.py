"""How a browser gets in: by a link that opens once, exchanged for a cookie and a key, so that no address opens it.

The link is printed and handed to the browser. Opening it sets a cookie that scripts cannot read and pages of other
sites cannot send, puts a key into the storage of the page's origin, and leads on to the room: a path of this run, which
by itself opens nothing. The cookie opens the page's own files, and a publication by its random id. Cookies know no
ports: a server of somebody else on this machine that knows the room, from a screen that was shared, and brings this
browser to the same path on its own port is sent it. So whatever tells or changes something needs the key as well, in a
header: the storage of an origin is its port's alone. Programs have the token of the settings instead.
"""

from __future__ import annotations

import base64
import hmac
import os
import threading
from collections import OrderedDict

from starlette.responses import Response

COOKIE = "covey-studio"
MOST_LINKS = 32  # that wait to be opened, and that are remembered as used: the oldest go


def new_token() -> str:
    """192 bits from the operating system, as text for an address."""
    return base64.urlsafe_b64encode(os.urandom(24)).decode()


class Entry:
    """The links, the room, the cookie and the key of one run. A studio that is started again has others."""

    def __init__(self) -> None:
        self.room = f"studio-{os.urandom(8).hex()}"
        self._cookie, self._key = new_token(), new_token()
        self._links: OrderedDict[str, bool] = OrderedDict()  # whether it has been opened
        self._lock = threading.Lock()

    def new_link(self) -> str:
        """The path of a link that opens once."""
        link = new_token()
        with self._lock:
            self._links[link] = False
            while len(self._links) > MOST_LINKS:
                self._links.popitem(last=False)
        return link

    def known(self, head: str, cookies: list[str]) -> bool:
        """Whether a request is for the room, with its cookie; compared in constant time."""
        right = False
        for each in ";".join(cookies).split(";"):
            name, _, value = each.strip().partition("=")
            right |= name == COOKIE and same(value, self._cookie)
        return right and same(head, self.room)

    def holds(self, key: str) -> bool:
        """Whether a request carries what only pages of the origin can read."""
        return same(key, self._key)

    def exchange(self, head: str) -> Response | None:
        """Open a link: cookie, key, and a page that leads on to the room. None if it is no link, or was opened before.

        The page itself leads on, for a browser that was sent here by another page sends no such cookie along.
        """
        with self._lock:
            link = next((each for each, used in self._links.items() if not used and same(head, each)), None)
            if link is None:
                return None
            self._links[link] = True
        page = (
            '<!doctype html><title>Covey Studio</title><link rel="icon" href="data:,">'
            f'<script src="/{self.room}/js/enter.js" data-key="{self._key}" data-room="/{self.room}/"></script>'
        )
        cookie = f"{COOKIE}={self._cookie}; Path=/{self.room}/; HttpOnly; SameSite=Strict"
        return Response(page, media_type="text/html", headers={"Set-Cookie": cookie})

    def was_opened(self, head: str) -> bool:
        with self._lock:
            return any(used and same(head, each) for each, used in self._links.items())


def same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())

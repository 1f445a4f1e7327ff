"""What one run of the studio was started with. All of it is chosen on the command line, none of it by a client."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from covey.errors import ParameterError
from covey.public import Person
from covey.studio.entry import Entry, new_token

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = ("", "0.0.0.0", "::", "[::]", "*")
_LOOPBACK = re.compile(r"127(\.[0-9]{1,3}){3}")
NOT_EVERY_ADDRESS = "must be one address, the one that others use; an open door for every name is not offered"
MOST_K, USUAL_K = 50, 5
MOST_ROWS, USUAL_ROWS = 10**6, 20_000  # of a rehearsal
ROW = Person()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a client may ask for. Bytes, and requests a second."""

    upload: int = 2**30
    body: int = 2**20
    batch: int = 2**22
    batches: int = 2**28  # of the collection that batches build up, as 64-bit numbers
    uploads_kept: int = 4
    reads: float = 100.0
    changes: float = 20.0
    strangers: float = 5.0  # requests without the token
    burst_seconds: float = 4.0


@dataclass(frozen=True, kw_only=True)
class Basemap:
    """What is drawn under the points: the bundled map, a document or a file of tiles that the studio serves, or an
    address elsewhere."""

    kind: str = "bundled"
    url: str = ""
    content: bytes | None = None
    path: Path | None = None
    origin: str | None = None


def new_id() -> str:
    """An opaque name for an upload, a job or a publication."""
    return os.urandom(8).hex()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where the studio listens, what it opens, charges and writes.

    data, bounds, name : what to open at the start, or None. person : whose a row is, in everything that is opened.
    missing, scale : as a fit takes them.
    ledger : a Ledger, or None for one in memory. dataset : the name in the ledger. key : the idempotency key of the
    look, or None. out : the folder of publications. host, port : where it listens; port 0 is decided by whoever binds
    the socket, and must be the real one here, for the Host check. public : rows of nobody to rehearse on, or None for
    made-up ones. seed : repeatable noise, not private. token : of programs. entry : of browsers.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    data: Any = field(default=None, repr=False)
    bounds: Any = None
    name: str = ""
    lon: str | None = None
    lat: str | None = None
    person: Person = ROW
    missing: str = "middle"
    scale: dict[str, float] | None = None
    zones: dict[str, Any] | None = None
    ledger: Any = None
    dataset: str | None = None
    key: str | None = None
    out: Path = Path("covey-published")
    basemap: Basemap = Basemap()
    public: Any = None
    public_name: str = ""
    demo: bool = False
    seed: int | None = None
    allow_seeded: bool = False
    limits: Limits = Limits()
    token: str = field(default_factory=new_token, repr=False)
    entry: Entry = field(default_factory=Entry, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.host in ANY_ADDRESS:
            raise ParameterError("host", NOT_EVERY_ADDRESS)
        if len(self.token) < 16 or not all(c.isalnum() or c in "-_" for c in self.token):
            raise ParameterError("token", "must be at least 16 letters, digits, - or _")

    @property
    def people(self) -> dict[str, Any] | None:
        """The column that says whose a row is, and how many rows of a person count; None where each row is a person."""
        return None if self.person.column is None else {"column": self.person.column, "rows": self.person.rows}

    @property
    def declared(self) -> dict[str, Any]:
        """What is declared of everything that is opened."""
        return {name: getattr(self, name) for name in ("lon", "lat", "person", "missing", "scale")}

    @property
    def shown_host(self) -> str:
        """The host as it stands in an address."""
        return f"[{self.host}]" if ":" in self.host and not self.host.startswith("[") else self.host

    @property
    def hosts(self) -> frozenset[str]:
        """What a request may give as its Host: the names of this machine to itself, or the given one, with the port."""
        names = {*LOOPBACK, self.shown_host} if self.is_loopback else {self.shown_host}
        full = {f"{name}:{self.port}".lower() for name in names}
        return frozenset(full | ({name.lower() for name in names} if self.port == 80 else set()))

    @property
    def is_loopback(self) -> bool:
        return self.shown_host in LOOPBACK or _LOOPBACK.fullmatch(self.host) is not None

    @property
    def address(self) -> str:
        """The address for programs, with the token: whoever has it may use the studio."""
        return self._below(self.token)

    def new_link(self) -> str:
        """An address that opens the page in one browser, once."""
        return self._below(self.entry.new_link())

    def _below(self, head: str) -> str:
        return f"http://{self.shown_host}:{self.port}/{head}/"

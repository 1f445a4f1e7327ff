"""The entries of a ledger: a chain in which every entry holds the hash of the one before it.

The hash of an entry is the SHA-256 of "covey-ledger-2" followed by all its fields but the hash itself, in the order
of `Entry`. Each is written as a length in decimal, a colon, and that many bytes: "n" for nothing, "i" and the
decimal digits for an integer, "s" and UTF-8 for text. The first entry holds 64 zeros as the previous hash. So a
ledger can be checked without Covey, by any program that reads SQLite.

Nothing here depends on the clock: times are written down and never compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from covey.budget.accounting.promise import Kind
from covey.errors import LedgerError
from covey.events import Neighbours

FORMAT = "covey-ledger-2"
FIRST_PREVIOUS = "0" * 64
_TYPES = frozenset({int, str, type(None)})


class Entry(NamedTuple):
    """One line of a ledger. Which fields are set depends on the kind.

    open     ledger (its random id), anchor (a path, or None), receipt (the secret that the anchor is salted with)
    dataset  dataset, its totals as epsilon and delta (None: unlimited), relation and unit: the type of its promises
    charge   dataset, epsilon and delta spent, purpose, key (hash or None), parameters (hash), receipt (random, and all
             that a certificate shows), zones (None, or JSON: a hash of the zones, and of each its name and amounts)
    release  charge (the sequence it finishes), document (hash)

    epsilon is in units of 1e-9, delta in units of 1e-18. unit is a column, or None for a row.
    """

    sequence: int
    kind: str
    time: str
    ledger: str | None
    anchor: str | None
    dataset: str | None
    relation: str | None
    unit: str | None
    epsilon: int | None
    delta: int | None
    zones: str | None
    purpose: str | None
    key: str | None
    parameters: str | None
    receipt: str | None
    charge: int | None
    document: str | None
    previous: str
    hash: str


class Zoned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The zones of a charge: a hash of where they are, and of each its name and what its rows were charged."""

    of: str
    zones: tuple[tuple[str, int, int], ...]


@dataclass
class ZoneTotals:
    """The zones that a data set is bound to by its first charge, and what the rows of each have been charged.

    of : their hash, or None where the first charge had none. spent : by name, of the first zones that were charged;
    a charge without these zones counts in full.
    """

    of: str | None
    counted: str | None = None
    spent: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, zoned: Zoned | None, whole: tuple[int, int], before: tuple[int, int]) -> None:
        """Count one charge of `whole`, `before` which the data set had been charged so much."""
        if zoned is not None and self.counted is None:
            self.counted = zoned.of
            self.spent = {name: before for name, _, _ in zoned.zones}
        mine = zoned is not None and zoned.of == self.counted
        own = {name: (epsilon, delta) for name, epsilon, delta in zoned.zones} if zoned is not None and mine else {}
        for name, (epsilon, delta) in self.spent.items():
            more = own.get(name, whole)
            self.spent[name] = (epsilon + more[0], delta + more[1])


@dataclass
class State:
    """What a checked chain says."""

    ledger: str = ""
    anchor: str | None = None
    salt: str = ""
    entries: list[Entry] = field(default_factory=list)
    totals: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    spent: dict[str, tuple[int, int]] = field(default_factory=dict)
    zones: dict[str, ZoneTotals] = field(default_factory=dict)
    receipts: dict[str, int] = field(default_factory=dict)  # receipt -> charge's sequence
    bound: dict[str, str] = field(default_factory=dict)  # hash of a key -> hash of its parameters
    released: dict[int, Entry] = field(default_factory=dict)  # charge's sequence -> release
    finished: dict[str, Entry] = field(default_factory=dict)  # hash of a key -> its first release

    @property
    def head(self) -> tuple[int, str]:
        return self.entries[-1].sequence, self.entries[-1].hash


def now() -> str:
    """The time to write down: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest(*fields: str | int | bytes | None) -> str:
    """The SHA-256 of some fields, each with its kind and length, so that no two lists of fields look alike."""
    return hashlib.sha256(b"".join([_encoded(value) for value in fields])).hexdigest()


def _encoded(value: str | int | bytes | None) -> bytes:
    if value is None:
        return b"1:n"
    if isinstance(value, str):
        raw = b"s" + value.encode()
    elif isinstance(value, int):
        raw = b"i%d" % value
    else:
        raw = b"b" + value
    return b"%d:%b" % (len(raw), raw)


def linked(state: State, kind: str, **fields: str | int | None) -> Entry:
    """The entry of this kind that follows the state's last one."""
    previous = state.entries[-1].hash if state.entries else FIRST_PREVIOUS
    known: dict[str, str | int | None] = {"sequence": len(state.entries) + 1, "kind": kind, "time": now()}
    values = known | fields | {"previous": previous}
    row = [values.get(name) for name in Entry._fields[:-1]]
    return Entry._make([*row, digest(FORMAT, *row)])


def replay(rows: Iterable[Sequence[object]], *, where: str) -> State:
    """Check every entry and add them up. Raises a LedgerError that names the first entry that is wrong."""
    state = State()
    previous = FIRST_PREVIOUS
    for place, row in enumerate(rows, start=1):
        entry = Entry._make(row)
        if entry.sequence != place:
            raise LedgerError(f"{where}: entry {place} is missing")
        if entry.previous != previous:
            raise LedgerError(f"{where}: entry {place} does not follow entry {place - 1}: the ledger was changed")
        if not _TYPES.issuperset(map(type, row)) or entry.hash != digest(FORMAT, *entry[:-1]):
            raise LedgerError(f"{where}: entry {place} was changed after it was written")
        problem = _apply(state, entry)
        if problem:
            raise LedgerError(f"{where}: entry {place} is not valid: {problem}")
        previous = entry.hash
    if not state.entries:
        raise LedgerError(f"{where}: the ledger has no entries")
    return state


def _apply(state: State, entry: Entry) -> str | None:
    """Add one entry to the state, or say what is wrong with it."""
    step = _KINDS.get(entry.kind)
    if step is None:
        return "of an unknown kind"
    if (entry.kind == "open") != (not state.entries):
        return "a ledger is opened once, by its first entry"
    problem = step(state, entry)
    state.entries.append(entry)
    return problem


def _apply_open(state: State, entry: Entry) -> str | None:
    state.ledger, state.anchor, state.salt = entry.ledger or "", entry.anchor, entry.receipt or ""
    return None if state.ledger and state.salt else "it names no ledger"


def _apply_dataset(state: State, entry: Entry) -> str | None:
    if entry.dataset is None or entry.dataset in state.totals:
        return "a data set is added once"
    try:
        state.kinds[entry.dataset] = Kind(Neighbours(entry.relation or ""), entry.unit)
    except ValueError:
        return "its data set has no type of promise"
    unlimited = entry.epsilon is None or entry.delta is None
    state.totals[entry.dataset] = None if unlimited else (entry.epsilon or 0, entry.delta or 0)
    state.spent[entry.dataset] = (0, 0)
    return None


def _apply_charge(state: State, entry: Entry) -> str | None:
    if entry.dataset not in state.totals or entry.dataset is None:
        return "its data set was never added"
    if entry.epsilon is None or entry.delta is None or min(entry.epsilon, entry.delta) < 0:
        return "it has no amounts"
    before = state.spent[entry.dataset]
    spent = (before[0] + entry.epsilon, before[1] + entry.delta)
    total = state.totals[entry.dataset]
    if total is not None and (spent[0] > total[0] or spent[1] > total[1]):
        return "it exceeds the total of its data set"
    zoned = None
    if entry.zones is not None:
        try:
            zoned = msgspec.json.decode(entry.zones, type=Zoned)
        except msgspec.MsgspecError:
            return "its zones cannot be read"
        if any(not (0 <= epsilon <= entry.epsilon and 0 <= delta <= entry.delta) for _, epsilon, delta in zoned.zones):
            return "its zones were charged more than all rows, or less than nothing"
    if not entry.receipt or entry.receipt in state.receipts:
        return "it has no receipt of its own"
    bound = state.zones.setdefault(entry.dataset, ZoneTotals(None if zoned is None else zoned.of))
    bound.add(zoned, (entry.epsilon, entry.delta), before)
    state.receipts[entry.receipt] = entry.sequence
    state.spent[entry.dataset] = spent
    if entry.key is not None and state.bound.setdefault(entry.key, entry.parameters or "") != entry.parameters:
        return "its key is bound to other parameters"
    return None


def _apply_release(state: State, entry: Entry) -> str | None:
    if entry.charge is None or entry.document is None or not 1 <= entry.charge < entry.sequence:
        return "it names no charge before it"
    charge = state.entries[entry.charge - 1]
    if charge.kind != "charge" or entry.charge in state.released:
        return "it names no unfinished charge"
    if charge.key is not None and charge.key in state.finished:
        return "its key was already finished"
    state.released[entry.charge] = entry
    if charge.key is not None:
        state.finished[charge.key] = entry
    return None


_KINDS = {"open": _apply_open, "dataset": _apply_dataset, "charge": _apply_charge, "release": _apply_release}

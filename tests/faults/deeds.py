"""A city's folder, the deeds that are done in it, and what must hold after whatever happened to them."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from errno import EIO, ENOSPC
from pathlib import Path
from typing import Any

from children import KILL_AFTER, KILL_BEFORE, KILL_WITHIN, KILLED, Done, Nursery

from covey import Coreset, CoveyError, Ledger, Release

LEDGER, ANCHOR, DATASET = "city.ledger", "anchor.json", "trips"
SHARED = ["rows.csv", "-k", "3", "--epsilon", "0.01", "--bounds=-1:1,-1:1", "--ledger", LEDGER, "--dataset", DATASET]
SHARED += ["--force"]  # deeds are repeated
DEEDS = {
    "fit": ["fit", *SHARED, "--algorithm", "lloyd", "--out", "release.json", "--quiet"],
    "coreset": ["coreset", *SHARED, "--method", "grid", "--out", "coreset.parquet", "--quiet"],
    "publish": ["publish"],  # what the studio does: look, then publish
}
RELEASES = ("release.json", "very-private.json")  # of a fit, and of the level that is published
OUTPUTS = {"fit": "release.json", "coreset": "coreset.parquet", "publish": "published"}
TRACES_OF_A_CRASH = (".part", "-journal", ".new")  # files that a killed process may leave beside the others


def make_city(folder: Path, *, anchored: bool = True, epsilon: str = "1000") -> Path:
    """A folder with rows, a ledger and its anchor."""
    folder.mkdir(parents=True)
    chooser = random.Random(3)
    lines = [f"{chooser.uniform(-1, 1)},{chooser.uniform(-1, 1)}" for _ in range(300)]
    (folder / "rows.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    anchor = folder / ANCHOR if anchored else None
    Ledger.create(folder / LEDGER, dataset=DATASET, epsilon=epsilon, anchor=anchor)
    return folder


def charges(folder: Path) -> int:
    return sum(entry.kind == "charge" for entry in Ledger.open(folder / LEDGER).entries())


def outputs(folder: Path, deed: str) -> dict[str, bytes]:
    """Every file that the deed left for others to read."""
    place = folder / OUTPUTS[deed]
    files = [place] if place.is_file() else [each for each in place.rglob("*") if each.is_file()]
    return {str(each.relative_to(folder)): each.read_bytes() for each in files if each.suffix != ".part"}


def check(folder: Path, deed: str, done: Done, *, before: int, old: dict[str, bytes], tidy: bool = True) -> None:
    """What must hold whatever happened: a whole ledger, whole files, no row and no release without a charge."""
    assert not done.hung
    assert done.code in (0, 2, KILLED, 130), (done.code, done.err)
    report = Ledger.open(folder / LEDGER).verify()
    assert report.releases <= report.charges
    if done.rows:
        assert report.charges > before, "rows were read without a charge"
    new = outputs(folder, deed)
    check_files(folder, new)
    if done.code == 0:
        assert report.charges == before + 1
        assert set(new.items()) - set(old.items())
    if done.code == 2:
        check_words(done)
        assert new == old or report.charges == before + 1
        assert not (tidy and leftovers(folder))
        if done.rows and deed != "publish":
            assert done.out or new != old, "rows were read, and nothing came of it"
        if done.out:  # a file could not be written: what was paid for is printed rather than lost
            assert Ledger.open(folder / LEDGER).find(json.loads(done.out)["certificate"]["receipt"]) is not None
            assert report.charges == before + 1
    known = {LEDGER, ANCHOR, f"{ANCHOR}.lock", "rows.csv", *OUTPUTS.values()}
    others = [name for name in os.listdir(folder) if name not in known]
    assert all(name.endswith(TRACES_OF_A_CRASH) for name in others), others


def leftovers(folder: Path) -> list[Path]:
    """Files that were begun and not finished."""
    return list(folder.rglob("*.part"))


def check_files(folder: Path, found: dict[str, bytes]) -> None:
    """Each file is whole, and the ledger holds the charge that its certificate names."""
    entries = Ledger.open(folder / LEDGER).entries()
    for name, content in found.items():
        certificate = None
        if name.endswith("coreset.parquet"):
            certificate = Coreset.load(folder / name).certificate
        elif name.endswith(RELEASES):
            certificate = Release.from_json(content).certificate
        elif name.endswith("json"):
            json.loads(content)
        else:
            assert content.rstrip().endswith(b"</html>"), name
        if certificate is not None:
            assert certificate.receipt in {entry.receipt for entry in entries if entry.kind == "charge"}
    listed = {name.rpartition("/")[0] for name in found if name.endswith("publication.json")}
    for each in listed:
        assert {f"{each}/rows-very-private.{ending}" for ending in ("json", "geojson", "html")} <= set(found)


def receipts(folder: Path, deed: str) -> set[str]:
    """The charges that the outputs name."""
    certificates = [
        Coreset.load(folder / name).certificate if name.endswith(".parquet") else Release.from_json(content).certificate
        for name, content in outputs(folder, deed).items()
        if name.endswith(("coreset.parquet", *RELEASES))
    ]
    return {each.receipt for each in certificates if each.receipt is not None}


def check_words(done: Done) -> None:
    """A refusal is one line without a traceback."""
    assert done.err.startswith("covey: error: "), done.err
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    assert "a bug in Covey" not in done.err, done.err


def once_more(nursery: Nursery, folder: Path, deed: str, key: str) -> object:
    """The deed on a good disk and in an empty place; what came of it, without the times that a report holds."""
    place = folder / OUTPUTS[deed]
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    done = nursery.run([*DEEDS[deed], "--key", key], folder=folder)
    assert done.code == 0, done.err
    check_files(folder, outputs(folder, deed))
    named = receipts(folder, deed)
    assert len(named) == 1
    return named if deed == "publish" else (named, outputs(folder, deed))


def check_again(nursery: Nursery, folder: Path, deed: str, key: str) -> None:
    """Once more with the same key, on a good disk: one release, the same for ever, and not charged twice."""
    first = once_more(nursery, folder, deed, key)
    paid = charges(folder)
    assert once_more(nursery, folder, deed, key) == first
    assert charges(folder) == paid, "a finished key was charged again"
    entries = Ledger.open(folder / LEDGER).entries()
    finished = Counter(entries[(entry.charge or 0) - 1].key for entry in entries if entry.kind == "release")
    assert {many for key, many in finished.items() if key is not None} == {1}, "a key has two releases"


@dataclass
class Tally:
    """What a run of faults saw."""

    trials: int = 0
    killed: int = 0
    refused: int = 0
    went_through: int = 0
    charged_without_release: int = 0
    leftovers: int = 0
    by_deed: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)  # of an invariant; empty, if Covey keeps its word

    def note(self, deed: str, done: Done, folder: Path, before: int) -> None:
        self.trials += 1
        self.by_deed[deed] = self.by_deed.get(deed, 0) + 1
        self.killed += done.code == KILLED
        self.refused += done.code == 2
        self.went_through += done.code == 0
        self.charged_without_release += done.code != 0 and charges(folder) > before
        self.leftovers += len(leftovers(folder))


def suffer(nursery: Nursery, folder: Path, deed: str, key: str, tally: Tally, **fault: object) -> Done:
    """One deed under one fault, then the checks, then the same key again. What does not hold is noted in the tally."""
    before, old = charges(folder), outputs(folder, deed)
    done = nursery.run([*DEEDS[deed], "--key", key], folder=folder, **fault)
    try:
        # A broken disk removes nothing, so what was begun may be left there.
        check(folder, deed, done, before=before, old=old, tidy=fault.get("error") != EIO)
        tally.note(deed, done, folder, before)
        check_again(nursery, folder, deed, key)
    except (AssertionError, CoveyError, LookupError) as error:
        tally.violations.append(f"{deed} under {fault}: {type(error).__name__} {error}")
    for part in leftovers(folder):
        part.unlink()
    return done


def duration(nursery: Nursery, folder: Path, deed: str) -> tuple[float, int]:
    """How long a deed takes here, and how many calls to the disk it makes."""
    done = nursery.run(DEEDS[deed], folder=folder)
    assert done.code == 0, done.err
    assert done.calls is not None
    return done.seconds, done.calls


class Moments:
    """Moments drawn evenly over the life of a deed. One that came too late says how long a life is by now.

    A machine may be ten times as busy while a life is measured as afterwards; most moments would then be too late.
    """

    def __init__(self, nursery: Nursery, folder: Path, deeds: Sequence[str], seed: int) -> None:
        self._chooser = random.Random(seed)
        self._lengths = {deed: duration(nursery, folder, deed)[0] for deed in deeds}

    def draw(self, deed: str) -> float:
        return self._chooser.uniform(0, self._lengths[deed])

    def learn(self, deed: str, done: Done) -> None:
        if done.code == 0:
            self._lengths[deed] = done.seconds


def kills_at_random_moments(
    nursery: Nursery,
    root: Path,
    *,
    count: int,
    seed: int,
    least: int = 0,
    note: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """`kill -9` at a moment drawn evenly over the life of a deed; `note` is told the tally now and then.

    least : kills that were in time. Until there are so many, up to ten times `count` moments are tried.
    """
    tally, trial = Tally(), 0
    while trial < count or (tally.killed < least and trial < 10 * count):
        if trial % 25 == 0:
            note(tally)
            folder = make_city(root / f"city-{trial}", anchored=trial % 50 == 0)
            moments = Moments(nursery, folder, list(DEEDS), seed + trial)
        deed = list(DEEDS)[trial % len(DEEDS)]
        moments.learn(deed, suffer(nursery, folder, deed, f"key-{trial}", tally, after=moments.draw(deed)))
        trial += 1
    return tally


KILLS = ({"error": KILL_BEFORE}, {"error": KILL_AFTER}, {"error": KILL_WITHIN})
ERRORS = tuple({"error": error, "sticky": sticky} for error in (ENOSPC, EIO) for sticky in (0, 1))


def kills_at_calls(nursery: Nursery, root: Path, **how: Any) -> Tally:
    """Killed before, after and in the middle of every `step`-th call to the disk."""
    return _at_calls(nursery, root, KILLS, **how)


def errors_at_calls(nursery: Nursery, root: Path, **how: Any) -> Tally:
    """A full disk or a broken one at every `step`-th call: once, and from then on."""
    return _at_calls(nursery, root, ERRORS, **how)


def _at_calls(
    nursery: Nursery,
    root: Path,
    faults: Sequence[dict[str, int]],
    *,
    step: int,
    note: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    tally, trial = Tally(), 0
    for deed in DEEDS:
        folder = make_city(root / f"{deed}-0")
        calls = duration(nursery, folder, deed)[1]
        assert calls > 40, "the disk is not the one that is counted"
        for number, fault in enumerate(faults):
            for at in range(1 + number * step // len(faults), calls + 1, step):
                if trial % 25 == 24:
                    note(tally)
                    folder = make_city(root / f"{deed}-{trial}")
                suffer(nursery, folder, deed, f"key-{trial}", tally, at=at, **fault)
                trial += 1
    return tally

"""Other processes, clocks and fingers: races for one budget, locks, a ledger that vanishes, SIGINT, wrong clocks."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import sqlite3
import threading

import numpy as np
import pytest
from deeds import (
    ANCHOR,
    DEEDS,
    LEDGER,
    Moments,
    charges,
    check,
    check_again,
    check_words,
    leftovers,
    make_city,
    outputs,
)

from covey import Ledger, LedgerError
from covey.budget.accounting.promise import Promise
from covey.fit.fit import fit

COMMANDS = ("fit", "coreset")
RACE = [each for each in DEEDS["fit"] if each not in ("--out", "release.json", "--quiet")]


@pytest.mark.parametrize("anchored", [True, False])
def test_eight_processes_race_for_a_budget_of_three(nursery, tmp_path, anchored):
    folder = make_city(tmp_path / "city", epsilon="3", anchored=anchored)
    done = nursery.race([*RACE, "--epsilon", "1", "--json"], folder=folder, runs=8)
    assert sorted(code for code, _, _ in done) == [0] * 3 + [2] * 5, done
    account = Ledger.open(folder / LEDGER).verify().datasets[0]
    assert account.spent.epsilon == 3
    assert len({out for code, out, _ in done if code == 0}) == 3
    assert all(code == 0 or "is left" in err for code, _, err in done)


def test_eight_processes_with_one_key_show_one_release(nursery, tmp_path):
    folder = make_city(tmp_path / "city", epsilon="8")
    done = nursery.race([*RACE, "--epsilon", "1", "--json", "--key", "monday"], folder=folder, runs=8)
    assert [code for code, _, _ in done] == [0] * 8, done
    assert len({out for _, out, _ in done}) == 1
    report = Ledger.open(folder / LEDGER).verify()
    assert report.releases == 1
    assert 1 <= report.charges <= 8


def test_a_ledger_that_another_process_holds_for_long(nursery, tmp_path):
    folder = make_city(tmp_path / "city")
    holder = sqlite3.connect(folder / LEDGER, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    done = nursery.run(DEEDS["fit"], folder=folder, busy=0.3)
    holder.execute("ROLLBACK")
    holder.close()
    assert (done.code, done.rows) == (2, False)
    assert "another process has held the ledger" in done.err
    assert charges(folder) == 0
    assert nursery.run(DEEDS["fit"], folder=folder).code == 0


def test_an_anchor_that_another_process_holds_for_long(nursery, tmp_path):
    """A process that was stopped while it moved the anchor on must not make others wait for ever."""
    folder = make_city(tmp_path / "city")
    with open(folder / f"{ANCHOR}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = nursery.run(DEEDS["fit"], folder=folder, busy=0.3)
    assert not done.hung
    assert (done.code, done.rows) == (2, False)
    assert "another process has held the anchor" in done.err
    assert charges(folder) == 0


def test_a_wait_that_ends_in_time_is_no_error(nursery, tmp_path):
    folder = make_city(tmp_path / "city")
    with open(folder / f"{ANCHOR}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        timer = threading.Timer(0.5, lambda: fcntl.flock(lock, fcntl.LOCK_UN))
        timer.start()
        done = nursery.run(DEEDS["fit"], folder=folder, busy=20.0)
        timer.join()
    assert done.code == 0, done.err


def gone(path):
    os.unlink(path)


def replaced_by_an_older_copy(path):
    path.write_bytes(path.with_suffix(".old").read_bytes())


def replaced_by_another(path):
    os.unlink(path)
    Ledger.create(path, dataset="trips", epsilon=100)


def emptied(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("what", [gone, replaced_by_an_older_copy, replaced_by_another, emptied])
def test_a_ledger_that_changes_under_a_fit_ends_it_without_a_release(tmp_path, what):
    """After the charge, in the middle of the work: the release cannot be stored, so it is not handed out."""
    path = tmp_path / "city.ledger"
    book = Ledger.create(path, dataset="trips", epsilon=100)
    path.with_suffix(".old").write_bytes(path.read_bytes())
    happened = []

    def meanwhile(*_):
        if not happened:
            happened.append(len(book.entries()))
            what(path)

    rows = np.random.default_rng(1).uniform(-1, 1, (100, 2))
    with pytest.raises(LedgerError):
        fit(rows, k=2, epsilon=1, bounds=(-1, 1), algorithm="lloyd", ledger=book, dataset="trips", progress=meanwhile)
    assert happened == [3], "the charge was there when the ledger changed"


@pytest.mark.parametrize("what", [gone, replaced_by_an_older_copy, replaced_by_another, emptied])
def test_a_ledger_that_changes_before_the_charge_is_refused_and_no_row_is_read(tmp_path, what):
    path = tmp_path / "city.ledger"
    book = Ledger.create(path, dataset="trips", epsilon=100)
    path.with_suffix(".old").write_bytes(path.read_bytes())
    book.charge("trips", Promise.of(1, 0), purpose="earlier")
    what(path)
    with pytest.raises(LedgerError):
        fit(
            np.zeros((9, 2)),
            k=2,
            epsilon=1,
            bounds=(-1, 1),
            ledger=book,
            dataset="trips",
            progress=lambda *_: pytest.fail("the rows were met"),
        )


# Python drops a KeyboardInterrupt that comes inside a callback of a weak reference, and says so; the work goes on.
LOST = re.compile(r"Exception ignored in: <function Weak\w+Dictionary\..*\n(?:.*\n)*KeyboardInterrupt: ?\n")


def interrupted(nursery, root, *, count: int, least: int, seed: int) -> int:
    """SIGINT at random moments; how many ended the work. Until `least` did, up to ten times `count` are sent."""
    folder, stopped, trial = make_city(root / "city"), 0, 0
    moments = Moments(nursery, folder, COMMANDS, seed)
    while trial < count or (stopped < least and trial < 10 * count):
        deed = COMMANDS[trial % len(COMMANDS)]
        before, old = charges(folder), outputs(folder, deed)
        after = moments.draw(deed)
        done = nursery.run([*DEEDS[deed], "--key", str(trial)], folder=folder, after=after, signal=signal.SIGINT)
        check(folder, deed, done, before=before, old=old)
        assert done.code in (0, 130), (done.code, done.err)
        if not (done.code == 0 and LOST.fullmatch(done.err)):
            assert done.err == ("" if done.code == 0 else "covey: error: interrupted; what was charged stays charged\n")
        assert not leftovers(folder)
        check_again(nursery, folder, deed, str(trial))
        moments.learn(deed, done)
        stopped += done.code == 130
        trial += 1
    return stopped


def test_an_interrupt_leaves_everything_consistent(nursery, tmp_path):
    assert interrupted(nursery, tmp_path, count=8, least=3, seed=2) >= 3


@pytest.mark.slow
def test_a_hundred_interrupts_leave_everything_consistent(nursery, tmp_path):
    assert interrupted(nursery, tmp_path, count=100, least=50, seed=3) >= 50


YEAR = 365 * 86400


@pytest.mark.parametrize("years", [-200, -60, -1, 200])
def test_a_clock_that_is_wrong_changes_nothing(nursery, tmp_path, years):
    """Forward, back and forward again: the ledger stays in order, whatever times it holds."""
    folder = make_city(tmp_path / "city")
    for clock in (0, years * YEAR, 0):
        done = nursery.run([*DEEDS["fit"], "--key", str(clock)], folder=folder, clock=clock)
        assert done.code == 0, done.err
    assert Ledger.open(folder / LEDGER).verify().charges == 2, "the third is the first one's key"
    written = [int(entry.time[:4]) for entry in Ledger.open(folder / LEDGER).entries() if entry.kind == "charge"]
    assert abs(written[1] - written[0] - years) <= 1, "the clock was off"


def test_a_clock_that_jumps_back_while_a_ledger_is_held(nursery, tmp_path):
    """Waiting is measured by a clock that cannot be set."""
    folder = make_city(tmp_path / "city")
    holder = sqlite3.connect(folder / LEDGER, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    done = nursery.run(DEEDS["fit"], folder=folder, busy=0.3, clock=-50 * YEAR)
    holder.close()
    assert done.code == 2
    assert done.seconds < 20
    check_words(done)

"""Killed at any moment, a ledger holds every charge whose rows may have been read, and no release without one."""

import os
import random
import signal
import time
from fractions import Fraction
from itertools import count

import pytest

from covey.budget import Ledger, Promise
from covey.budget.ledger import anchor as anchors
from covey.budget.ledger import store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ledger.covey"
    Ledger.create(path, dataset="trips", epsilon=1000, anchor=tmp_path / "anchor.json")
    return path


def die(*_args, **_more):
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def in_child(work):
    """Run `work(say)` in a child process; returns its id and a pipe on which everything it says arrives."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            work(lambda text: os.write(writer, text.encode() + b"\n"))
        finally:
            os._exit(0)
    os.close(writer)
    return child, reader


def heard(child, reader, begun=b""):
    """What the child said before it ended, and whether it was killed. `begun` was read already."""
    with open(reader, "rb") as pipe:
        said = (begun + pipe.read()).decode().split("\n")[:-1]
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def fit(ledger, key, say):
    """What a fit does: pay, read rows, store, hand out."""
    receipt = ledger.charge("trips", Promise.of("0.01", 0), purpose="k-means", key=key)
    say(f"rows {receipt.sequence}")
    say(f"release {key} {ledger.finish(receipt, key.encode()).document.decode()}")


def check(path, said):
    """The invariant: the ledger is whole, and whatever the child did is paid for."""
    ledger = Ledger.open(path)
    report = ledger.verify()
    assert report.releases <= report.charges
    assert report.datasets[0].spent.epsilon == report.charges * Fraction(1, 100)
    charges = {entry.sequence for entry in ledger.entries() if entry.kind == "charge"}
    for line in said:
        if line.startswith("rows"):
            assert int(line.split()[1]) in charges
        else:
            _, key, document = line.split()
            assert ledger.stored("trips", key=key, parameters="") == document.encode()
    return report


def before_commit(monkeypatch):
    monkeypatch.setattr(store, "commit", die)


def after_commit_before_anchor(monkeypatch):
    monkeypatch.setattr(anchors, "advance", die)


def while_the_anchor_is_replaced(monkeypatch):
    monkeypatch.setattr(os, "replace", die)


def after_the_anchor_before_rows(monkeypatch):
    real = anchors.advance

    def advance(*args, **more):
        real(*args, **more)
        die()

    monkeypatch.setattr(anchors, "advance", advance)


def before_finish(monkeypatch):
    monkeypatch.setattr(Ledger, "finish", die)


@pytest.mark.parametrize(
    ("moment", "charges"),
    [
        (before_commit, 0),
        (after_commit_before_anchor, 1),
        (while_the_anchor_is_replaced, 1),
        (after_the_anchor_before_rows, 1),
        (before_finish, 1),
    ],
)
def test_a_crash_at_a_chosen_moment_of_a_charge(path, monkeypatch, moment, charges):
    for attempt in range(1, 4):
        with monkeypatch.context() as patched:
            moment(patched)
            said, killed = heard(*in_child(lambda say: fit(Ledger.open(path), "may", say)))
        assert killed
        report = check(path, said)
        assert (report.charges, report.releases) == (charges * attempt, 0)
        assert len(said) == (moment is before_finish)
    said, _ = heard(*in_child(lambda say: fit(Ledger.open(path), "may", say)))
    assert said[-1] == "release may may"
    assert check(path, said).charges == 3 * charges + 1


@pytest.mark.parametrize(
    ("moment", "stored"),
    [
        (before_commit, None),
        (after_commit_before_anchor, b"may"),
        (while_the_anchor_is_replaced, b"may"),
        (after_the_anchor_before_rows, b"may"),
    ],
)
def test_a_crash_at_a_chosen_moment_of_finish(path, monkeypatch, moment, stored):
    def work(say):
        ledger = Ledger.open(path)
        receipt = ledger.charge("trips", Promise.of("0.01", 0), purpose="k-means", key="may")
        moment(monkeypatch)  # in the child only
        ledger.finish(receipt, b"may")
        say("release may may")

    said, killed = heard(*in_child(work))
    assert killed
    assert said == []
    assert check(path, said).charges == 1
    assert Ledger.open(path).stored("trips", key="may", parameters="") == stored


def test_a_crash_at_every_single_statement(path, monkeypatch):
    """Kill before the n-th statement that SQLite runs, for every n until a fit goes through."""
    real = store._connect
    for last in range(1, 200):

        def work(say, last=last):
            seen = []

            def traced(target):
                connection = real(target)
                connection.set_trace_callback(lambda sql: die() if len(seen) == last else seen.append(sql))
                return connection

            store._connect = traced  # in the child only
            fit(Ledger.open(path), f"key-{last}", say)

        said, killed = heard(*in_child(work))
        check(path, said)
        if not killed:
            break
    assert last > 20
    assert said[-1].startswith("release")


def test_crashes_at_random_moments(path):
    chooser = random.Random(5)
    handed_out = []
    for trial in range(40):

        def work(say, trial=trial):
            for number in count():  # until it is killed, however late that is
                fit(Ledger.open(path), f"key-{trial}-{number}", say)

        child, reader = in_child(work)
        begun = os.read(reader, 6) if trial % 2 else b""  # from its start, or from its first charge on
        time.sleep(chooser.uniform(0.0, 0.1))
        os.kill(child, signal.SIGKILL)
        said, killed = heard(child, reader, begun)
        assert killed
        handed_out += said
        check(path, said)
    report = check(path, handed_out)
    assert report.charges >= 20  # the children did get somewhere


def test_a_creation_that_is_killed_is_recognised(tmp_path, monkeypatch):
    path = tmp_path / "ledger.covey"
    with monkeypatch.context() as patched:
        before_commit(patched)
        _, killed = heard(*in_child(lambda _: Ledger.create(path, dataset="trips", epsilon=1)))
    assert killed
    from covey.errors import LedgerError

    with pytest.raises(LedgerError, match="creation was interrupted"):
        Ledger.open(path)

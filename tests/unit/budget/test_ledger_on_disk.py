"""What is done to a ledger's file and its anchor is noticed, and a commit reaches the disk."""

import os
import shutil
import sqlite3
import threading

import pytest

from covey.budget import Ledger, Promise
from covey.budget.ledger import anchor as anchors
from covey.budget.ledger import store
from covey.errors import LedgerError


def spend(ledger, epsilon=1):
    return ledger.charge("trips", Promise.of(epsilon, 0), purpose="map")


def test_a_trigger_with_the_name_of_a_table_is_noticed(tmp_path):
    """SQLite lets a trigger and a table share a name: the table's row came last and hid the trigger's."""
    path = tmp_path / "ledger.covey"
    Ledger.create(path, dataset="trips", epsilon=1)
    connection = sqlite3.connect(path, isolation_level=None)
    head = connection.execute("SELECT * FROM head").fetchone()
    for sql in (
        "DROP TABLE releases",
        "DROP TABLE head",
        "CREATE TRIGGER head AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE sequence = new.sequence; END",
        store._SCHEMA["head"],
        f"INSERT INTO head VALUES {head}",
        "CREATE TRIGGER releases BEFORE INSERT ON head BEGIN SELECT RAISE(IGNORE); END",
        store._SCHEMA["releases"],
    ):
        connection.execute(sql)
    connection.close()
    with pytest.raises(LedgerError, match="tables were changed"):
        spend(Ledger(store.Store(path)))  # was: a charge that undid itself, for ever


class TestAnchor:
    @pytest.fixture
    def copies(self, tmp_path):
        """Two copies of a ledger of 1 in all, and their one anchor."""
        first, second, anchor = tmp_path / "first.covey", tmp_path / "second.covey", tmp_path / "anchor.json"
        Ledger.create(first, dataset="trips", epsilon=1, anchor=anchor)
        shutil.copy(first, second)
        return first, second, anchor

    def test_two_copies_of_a_ledger_cannot_both_spend_at_the_same_time(self, copies, monkeypatch):
        first, second, _ = copies
        receipts, refused, threads = [], [], []
        real = store.commit

        def other():
            try:
                receipts.append(spend(Ledger.open(second)))
            except LedgerError as error:
                refused.append(error)

        def commit(connection):
            monkeypatch.setattr(store, "commit", real)
            threads.append(threading.Thread(target=other))  # the copy is charged between our check and our commit
            threads[0].start()
            threads[0].join(0.5)
            real(connection)

        monkeypatch.setattr(store, "commit", commit)
        receipts.append(spend(Ledger.open(first)))
        threads[0].join()
        assert (len(receipts), len(refused)) == (1, 1)
        assert "old copy" in str(refused[0])

    def test_a_lock_ends_with_its_charge_although_a_child_was_forked(self, copies):
        first, _, anchor = copies
        with anchors.held(str(anchor)):
            child = os.fork()
            if child == 0:
                threading.Event().wait(280)
                os._exit(0)
        try:
            charged = threading.Thread(target=lambda: spend(Ledger.open(first)), daemon=True)
            charged.start()
            charged.join(120)
            assert not charged.is_alive()
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)

    def test_a_planted_file_never_becomes_the_anchor(self, copies, tmp_path):
        first, _, anchor = copies
        theirs = tmp_path / "theirs"
        theirs.write_text("")
        (tmp_path / "anchor.json.new").symlink_to(theirs)
        spend(Ledger.open(first))
        assert not anchor.is_symlink()
        assert theirs.read_text() == ""


class TestTheFileUnderAnOpenLedger:
    def test_a_new_ledger_in_its_place_is_refused(self, tmp_path):
        path = tmp_path / "ledger.covey"
        ledger = Ledger.create(path, dataset="trips", epsilon=1, anchor=tmp_path / "anchor.json")
        spend(ledger)
        Ledger.create(tmp_path / "new", dataset="trips", epsilon=1)
        os.replace(tmp_path / "new", path)
        with pytest.raises(LedgerError, match="entry 3 was here before"):
            spend(ledger)

    def test_an_old_copy_in_its_place_is_refused(self, tmp_path):
        path = tmp_path / "ledger.covey"
        ledger = Ledger.create(path, dataset="trips", epsilon=1)
        shutil.copy(path, tmp_path / "old")
        spend(ledger)
        shutil.copy(tmp_path / "old", path)
        with pytest.raises(LedgerError, match="entry 3 was here before"):
            spend(ledger)

    def test_it_stays_the_same_file_when_the_process_changes_its_folder(self, tmp_path, monkeypatch):
        (tmp_path / "sub").mkdir()
        Ledger.create(tmp_path / "sub" / "ledger.covey", dataset="trips", epsilon=1)
        monkeypatch.chdir(tmp_path)
        ledger = Ledger.create("ledger.covey", dataset="trips", epsilon=1)
        monkeypatch.chdir(tmp_path / "sub")
        spend(ledger)
        assert Ledger.open(tmp_path / "ledger.covey").datasets()["trips"].spent.epsilon == 1
        assert Ledger.open("ledger.covey").datasets()["trips"].spent.epsilon == 0


def test_a_ledger_of_two_names_is_refused(tmp_path):
    """Killed between writing pages and unlinking the journal of one name, a ledger lost what the other name charged."""
    Ledger.create(tmp_path / "ledger.covey", dataset="trips", epsilon=1)
    os.link(tmp_path / "ledger.covey", tmp_path / "other.covey")
    for name in ("ledger.covey", "other.covey"):
        with pytest.raises(LedgerError, match="hard links"):
            spend(Ledger(store.Store(tmp_path / name)))
    (tmp_path / "other.covey").unlink()
    spend(Ledger.open(tmp_path / "ledger.covey"))


def test_a_commit_reaches_the_disk_on_macos_too(tmp_path):
    book = store.Store(tmp_path / "ledger.covey")
    Ledger.create(book.path, dataset="trips", epsilon=1)
    with book.transaction(write=False) as connection:
        assert store._one(connection, "PRAGMA fullfsync") == 1

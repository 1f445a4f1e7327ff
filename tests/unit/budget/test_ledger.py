"""The ledger's contract, for a file and for memory alike; then what only files do."""

import copy
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

from covey.budget import Cost, Ledger, Promise
from covey.budget.ledger import chain
from covey.errors import BudgetError, LedgerError, ParameterError


@pytest.fixture(params=["memory", "file", "anchored"])
def make(request, tmp_path):
    """Makes a ledger with one data set "trips"; the same tests run on every kind."""

    def ledger(*, epsilon, delta=0):
        if request.param == "memory":
            return Ledger.memory(dataset="trips", epsilon=epsilon, delta=delta)
        anchor = tmp_path / "anchor.json" if request.param == "anchored" else None
        return Ledger.create(tmp_path / "ledger.covey", dataset="trips", epsilon=epsilon, delta=delta, anchor=anchor)

    return ledger


def charge(ledger, epsilon="0.1", delta=0, **more):
    return ledger.charge("trips", Promise.of(epsilon, delta), purpose="k-means", **more)


def spent(ledger):
    return ledger.datasets()["trips"].spent


class TestCharges:
    def test_ten_charges_of_a_tenth_fill_one_exactly(self, make):
        ledger = make(epsilon=1)
        for _ in range(10):
            charge(ledger, 0.1)
        assert ledger.datasets()["trips"].remaining == Cost(Fraction(0))
        with pytest.raises(BudgetError):
            charge(ledger, "1e-9")
        assert spent(ledger) == Cost(Fraction(1))

    def test_charges_are_rounded_up_and_totals_down(self, make):
        ledger = make(epsilon="1.0000000019", delta="1.9e-18")
        receipt = charge(ledger, Fraction(1, 3), Fraction(1, 10**30))
        assert receipt.cost == Cost(Fraction(333333334, 10**9), Fraction(1, 10**18))
        assert ledger.datasets()["trips"].total == Cost(Fraction(1000000001, 10**9), Fraction(1, 10**18))
        with pytest.raises(BudgetError):
            charge(ledger, "0.1", "1e-30")

    def test_delta_is_a_limit_of_its_own(self, make):
        ledger = make(epsilon=10, delta="1e-6")
        charge(ledger, 1, "1e-6")
        with pytest.raises(BudgetError):
            charge(ledger, 1, "1e-18")
        charge(ledger, 1, 0)

    def test_the_refusal_says_what_was_asked_what_is_left_and_what_to_do(self, make):
        ledger = make(epsilon="1.5", delta="1e-6")
        charge(ledger, "1.25", "1e-7")
        with pytest.raises(BudgetError) as caught:
            charge(ledger, "0.5", "2e-7")
        message = str(caught.value)
        for words in ("'trips'", "epsilon 0.5", "2e-07", "epsilon 0.25", "9e-07", "1.5", "ask for less"):
            assert words in message
        assert "\n" not in message

    def test_a_refused_charge_leaves_no_trace(self, make):
        ledger = make(epsilon=1)
        before = ledger.entries()
        with pytest.raises(BudgetError):
            charge(ledger, 2)
        assert ledger.entries() == before
        ledger.verify()

    def test_the_receipt_is_the_head_and_entries_say_everything(self, make):
        ledger = make(epsilon=1)
        receipt = charge(ledger, "0.25", parameters='{"k": 5}')
        assert (receipt.sequence, receipt.hash) == (ledger.head.sequence, ledger.head.hash) == (3, receipt.hash)
        opened, added, charged = ledger.entries()
        assert (opened.kind, added.kind, charged.kind) == ("open", "dataset", "charge")
        assert opened.ledger == receipt.ledger
        assert len(bytes.fromhex(receipt.ledger)) == 16
        assert (charged.dataset, charged.epsilon, charged.delta, charged.purpose) == ("trips", 250000000, 0, "k-means")
        assert charged.previous == added.hash

    def test_data_sets_have_totals_of_their_own(self, make):
        ledger = make(epsilon=1)
        ledger.add("homes", epsilon=2, delta="1e-9")
        ledger.charge("homes", Promise.of(2, "1e-9"), purpose="map")
        charge(ledger, 1)
        assert ledger.datasets()["homes"].remaining == ledger.datasets()["trips"].remaining == Cost(Fraction(0))
        with pytest.raises(LedgerError, match="already"):
            ledger.add("homes", epsilon=5)

    def test_an_unknown_data_set_is_refused_by_name(self, make):
        ledger = make(epsilon=1)
        for call in (
            lambda: ledger.charge("trip", Promise.of(1, 0), purpose="map"),
            lambda: ledger.stored("trip", key="a", parameters=""),
        ):
            with pytest.raises(LedgerError, match="no data set 'trip', only 'trips'"):
                call()

    @pytest.mark.parametrize(
        ("change", "parameter"),
        [
            ({"epsilon": -1}, "epsilon"),
            ({"epsilon": "much"}, "epsilon"),
            ({"epsilon": float("nan")}, "epsilon"),
            ({"epsilon": float("inf")}, "epsilon"),
            ({"epsilon": None}, "epsilon"),
            ({"epsilon": 0}, "epsilon"),
            ({"epsilon": 10**10}, "epsilon"),
            ({"delta": -1}, "delta"),
            ({"delta": 10}, "delta"),
            ({"purpose": ""}, "purpose"),
            ({"purpose": "two\nlines"}, "purpose"),
            ({"purpose": None}, "purpose"),
            ({"key": ""}, "key"),
            ({"key": "\ud800"}, "key"),
        ],
    )
    def test_wrong_arguments_are_named_and_spend_nothing(self, make, change, parameter):
        ledger = make(epsilon=1)
        amounts = {name: change.get(name, usual) for name, usual in (("epsilon", "0.1"), ("delta", 0))}
        more = {"purpose": "map"} | {name: value for name, value in change.items() if name not in amounts}
        with pytest.raises(ParameterError) as caught:
            ledger.charge("trips", Promise.of(**amounts), **more)
        assert caught.value.parameter == parameter
        assert spent(ledger) == Cost(Fraction(0))

    def test_a_clock_that_is_set_back_changes_nothing(self, make, monkeypatch):
        ledger = make(epsilon=1)
        times = iter(["2030-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "2026-05-05T05:05:05+00:00"])
        monkeypatch.setattr(chain, "now", lambda: next(times))
        receipt = charge(ledger, key="a")
        charge(ledger)
        ledger.finish(receipt, b"map")
        assert ledger.stored("trips", key="a", parameters="") == b"map"
        assert [entry.time[:4] for entry in ledger.entries()[2:]] == ["2030", "1970", "2026"]
        assert spent(ledger) == Cost(Fraction(1, 5))
        ledger.verify()

    def test_threads_share_one_budget(self, make):
        ledger, granted = make(epsilon=1), []

        def work():
            for _ in range(4):
                try:
                    granted.append(charge(ledger, "0.1"))
                except BudgetError:
                    return

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({receipt.sequence for receipt in granted}) == len(granted) == 10


class TestReleases:
    def test_a_finished_key_gives_its_release_and_costs_nothing(self, make):
        ledger = make(epsilon=1)
        assert ledger.stored("trips", key="may", parameters="k=5") is None
        finished = ledger.finish(charge(ledger, key="may", parameters="k=5"), b"\x00centres\xff")
        assert finished.document == b"\x00centres\xff"
        assert (finished.sequence, finished.hash) == (ledger.head.sequence, ledger.head.hash)
        assert ledger.stored("trips", key="may", parameters="k=5") == b"\x00centres\xff"
        assert ledger.stored("trips", key="june", parameters="k=5") is None
        assert spent(ledger) == Cost(Fraction(1, 10))

    def test_a_key_stands_for_one_set_of_parameters_even_before_it_is_finished(self, make):
        ledger = make(epsilon=1)
        charge(ledger, key="may", parameters="k=5")
        for call in (
            lambda: ledger.stored("trips", key="may", parameters="k=6"),
            lambda: charge(ledger, key="may", parameters="k=6"),
        ):
            with pytest.raises(LedgerError, match="choose another key"):
                call()
        assert spent(ledger) == Cost(Fraction(1, 10))

    def test_a_key_belongs_to_its_data_set(self, make):
        ledger = make(epsilon=1)
        ledger.add("homes", epsilon=1)
        ledger.finish(charge(ledger, key="may"), b"trips")
        assert ledger.stored("homes", key="may", parameters="other") is None

    def test_an_unfinished_key_is_charged_again(self, make):
        ledger = make(epsilon=1)
        charge(ledger, key="may")
        assert ledger.stored("trips", key="may", parameters="") is None
        ledger.finish(charge(ledger, key="may"), b"map")
        assert spent(ledger) == Cost(Fraction(1, 5))
        assert ledger.verify().unfinished == 1

    def test_of_two_that_raced_for_a_key_the_first_to_finish_is_shown_by_both(self, make):
        ledger = make(epsilon=1)
        slow, fast = charge(ledger, key="may"), charge(ledger, key="may")
        first = ledger.finish(fast, b"fast")
        second = ledger.finish(slow, b"slow")
        assert second == first
        assert second.document == ledger.stored("trips", key="may", parameters="") == b"fast"
        assert spent(ledger) == Cost(Fraction(1, 5))
        ledger.verify()

    def test_releases_without_a_key_are_stored_side_by_side(self, make):
        ledger = make(epsilon=1)
        for name in (b"one", b"two"):
            assert ledger.finish(charge(ledger), name).document == name
        assert ledger.verify().releases == 2

    def test_finishing_twice_is_refused(self, make):
        ledger = make(epsilon=1)
        for key in (None, "may"):
            receipt = charge(ledger, key=key)
            ledger.finish(receipt, b"map")
            with pytest.raises(LedgerError, match="already finished"):
                ledger.finish(receipt, b"other")
        assert ledger.verify().releases == 2

    def test_a_receipt_of_another_ledger_or_entry_is_refused(self, make):
        ledger, other = make(epsilon=1), Ledger.memory()
        foreign = other.charge("data", Promise.of(1, 0), purpose="map")
        own = charge(ledger)
        release = ledger.finish(own, b"map")
        from dataclasses import replace

        for receipt in (
            foreign,
            replace(own, sequence=99),
            replace(own, sequence=0),
            replace(own, sequence=-1),
            replace(own, sequence=1),
            replace(own, sequence=release.sequence, hash=release.hash),
        ):
            with pytest.raises(LedgerError, match="no charge"):
                ledger.finish(receipt, b"map")

    def test_a_document_is_bytes(self, make):
        ledger = make(epsilon=1)
        with pytest.raises(ParameterError, match="document"):
            ledger.finish(charge(ledger), "text")


class TestReports:
    def test_verify_counts_everything(self, make):
        ledger = make(epsilon=1, delta="1e-6")
        ledger.finish(charge(ledger, "0.1", "1e-7"), b"map")
        charge(ledger)
        report = ledger.verify()
        assert (report.entries, report.charges, report.releases, report.unfinished) == (5, 2, 1, 1)
        assert report.head == ledger.head
        (account,) = report.datasets
        assert account.spent == Cost(Fraction(1, 5), Fraction(1, 10**7))

    def test_neither_repr_nor_entries_show_a_key(self, make):
        ledger = make(epsilon=1).with_key("my secret key")
        ledger.finish(charge(ledger, key=ledger.key), b"map")
        shown = repr(ledger) + repr(ledger.entries()) + repr(ledger.verify()) + repr(charge(ledger, key=ledger.key))
        assert "secret" not in shown
        assert "trips" in repr(ledger)

    def test_a_key_can_be_carried_along(self, make):
        ledger = make(epsilon=1)
        assert ledger.key is None
        keyed = ledger.with_key("may")
        assert keyed.key == "may"
        charge(keyed, key=keyed.key)
        assert spent(ledger) == Cost(Fraction(1, 10))
        assert keyed.with_key(None).key is None

    def test_a_copy_spends_from_the_same_budget(self, make):
        ledger = make(epsilon=1)
        charge(copy.deepcopy(ledger), 1)
        with pytest.raises(BudgetError):
            charge(copy.copy(ledger), 1)


class TestMemory:
    def test_without_a_total_there_is_no_limit(self):
        ledger = Ledger.memory()
        ledger.charge("data", Promise.of(10**6, "0.5"), purpose="map")
        account = ledger.datasets()["data"]
        assert account.total is None
        assert account.remaining is None
        assert account.spent == Cost(Fraction(10**6), Fraction(1, 2))
        ledger.add("more")

    def test_a_total_delta_needs_a_total_epsilon(self):
        with pytest.raises(ParameterError, match="epsilon"):
            Ledger.memory(delta="1e-6")

    def test_it_cannot_be_sent_to_another_process(self):
        ledger = Ledger.memory()
        with pytest.raises(LedgerError, match="use a file"):
            pickle.dumps(ledger)

    @pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
    def test_a_forked_child_cannot_spend_a_copy_of_the_budget(self):
        ledger = Ledger.memory(epsilon=1)
        child = os.fork()
        if child == 0:
            try:
                ledger.charge("data", Promise.of(1, 0), purpose="map")
            except LedgerError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


class TestFiles:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "a ledger #1?%20.covey"
        ledger = Ledger.create(path, dataset="trips", epsilon=1)
        ledger.finish(charge(ledger, key="may"), b"map")
        return path

    def test_it_is_there_when_opened_again(self, path):
        ledger = Ledger.open(str(path))
        assert ledger.stored("trips", key="may", parameters="") == b"map"
        assert spent(ledger) == Cost(Fraction(1, 10))
        assert spent(pickle.loads(pickle.dumps(ledger))) == Cost(Fraction(1, 10))

    def test_only_the_owner_may_read_it(self, path):
        assert path.stat().st_mode & 0o077 == 0

    def test_an_existing_file_is_never_overwritten(self, path, tmp_path):
        before = path.read_bytes()
        with pytest.raises(LedgerError, match="exists already"):
            Ledger.create(path, dataset="trips", epsilon=1)
        assert path.read_bytes() == before
        dangling = tmp_path / "link"
        dangling.symlink_to(tmp_path / "nowhere")
        with pytest.raises(LedgerError, match="exists already"):
            Ledger.create(dangling, dataset="trips", epsilon=1)

    def test_a_file_needs_a_total(self, tmp_path, path):
        with pytest.raises(ParameterError, match="epsilon"):
            Ledger.create(tmp_path / "x", dataset="trips", epsilon=None)
        assert not (tmp_path / "x").exists()
        with pytest.raises(ParameterError, match="epsilon"):
            Ledger.open(path).add("homes")

    def test_leftovers_of_another_ledger_are_not_mixed_in(self, tmp_path):
        (tmp_path / "x-journal").write_bytes(b"old")
        with pytest.raises(LedgerError, match="left over"):
            Ledger.create(tmp_path / "x", dataset="trips", epsilon=1)

    def test_a_creation_that_fails_leaves_nothing(self, tmp_path):
        with pytest.raises(LedgerError, match="anchor"):
            Ledger.create(tmp_path / "x", dataset="trips", epsilon=1, anchor=tmp_path / "no such folder" / "a")
        assert list(tmp_path.iterdir()) == []

    def test_the_settings_that_make_it_durable_are_in_force(self, path):
        ledger = Ledger.open(path)
        with ledger._store.transaction(write=True) as connection:
            pragmas = {
                name: connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "busy_timeout")
            }
        assert pragmas == {"journal_mode": "delete", "synchronous": 3, "busy_timeout": 60000}

    @pytest.mark.parametrize("call", [Ledger.open, Ledger.renew_anchor])
    def test_what_is_no_ledger_is_refused_in_one_line(self, tmp_path, call):
        text = tmp_path / "text"
        text.write_text("k,epsilon\n" * 500)
        empty = tmp_path / "empty"
        empty.touch()
        foreign = tmp_path / "foreign"
        with sqlite3.connect(foreign) as connection:
            connection.execute("CREATE TABLE entries (sequence)")
        connection.close()
        newer = tmp_path / "newer"
        Ledger.create(newer, dataset="trips", epsilon=1)
        with sqlite3.connect(newer) as connection:
            connection.execute("PRAGMA user_version=3")
        connection.close()
        for path, words in (
            (text, "not a Covey ledger"),
            (empty, "empty"),
            (foreign, "but not a Covey ledger"),
            (newer, "format 3; this Covey reads format 2"),
            (tmp_path, "no ledger here"),
            (tmp_path / "missing", "no ledger here"),
            (tmp_path / "missing" / "folder", "no ledger here"),
            (text / "file in place of a folder", "no ledger here"),
        ):
            with pytest.raises(LedgerError, match=words) as caught:
                call(path)
            assert "\n" not in str(caught.value)
            assert str(path) in str(caught.value)
        assert not (tmp_path / "missing").exists()

    def test_places_that_cannot_be_written_are_refused_in_one_line(self, tmp_path, path):
        for place in (tmp_path / "missing" / "x", path / "x"):
            with pytest.raises(LedgerError, match="cannot be created"):
                Ledger.create(place, dataset="trips", epsilon=1)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_read_only_ledger_can_be_verified_but_not_charged(self, path):
        path.chmod(0o400)
        ledger = Ledger.open(path)
        ledger.verify()
        with pytest.raises(LedgerError, match="may not be written"):
            charge(ledger)

    def test_a_ledger_that_is_held_too_long_is_named_and_nothing_is_spent(self, path, monkeypatch):
        from covey.budget.ledger import store

        monkeypatch.setattr(store, "_BUSY_SECONDS", 0.05)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        ledger = Ledger.open(path)  # reading goes on
        with pytest.raises(LedgerError, match="another process"):
            charge(ledger)
        holder.execute("ROLLBACK")
        holder.close()
        assert spent(ledger) == Cost(Fraction(1, 10))

    def test_a_charge_holds_the_ledger_from_its_first_look_at_it(self, path):
        """Otherwise two processes could read the same sum, and both find room."""
        other = sqlite3.connect(path, isolation_level=None, timeout=0)
        with Ledger.open(path)._writing(), pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.execute("BEGIN IMMEDIATE")
        other.close()

    def test_a_full_disk_spends_nothing(self, path, monkeypatch):
        from covey.budget.ledger import store

        real = store._connect

        def small(target):
            connection = real(target)
            connection.execute("PRAGMA max_page_count=1")  # SQLite takes the present size: no page can be added
            return connection

        ledger = Ledger.open(path)
        monkeypatch.setattr(store, "_connect", small)
        receipt = charge(ledger)
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.finish(receipt, b"x" * 10**6)
        monkeypatch.undo()
        assert ledger.verify().unfinished == 1

    def test_a_failing_commit_spends_nothing(self, path, monkeypatch):
        from covey.budget.ledger import store

        def fails(connection):
            raise sqlite3.OperationalError("disk I/O error")

        ledger = Ledger.open(path)
        monkeypatch.setattr(store, "commit", fails)
        with pytest.raises(LedgerError):
            charge(ledger)
        monkeypatch.undo()
        assert spent(ledger) == Cost(Fraction(1, 10))
        assert list(path.parent.glob("*-journal")) == []

    def test_an_interrupted_charge_spends_nothing(self, path, monkeypatch):
        from covey.budget.ledger import store

        def interrupted(connection):
            raise KeyboardInterrupt

        ledger = Ledger.open(path)
        monkeypatch.setattr(store, "commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            charge(ledger)
        monkeypatch.undo()
        assert spent(ledger) == Cost(Fraction(1, 10))


RACE = """
import sys
from covey.budget import Ledger, Promise
from covey.errors import BudgetError
ledger, granted = Ledger.open(sys.argv[1]), 0
print("ready", flush=True)
sys.stdin.readline()
for attempt in range(50):
    try:
        ledger.charge("trips", Promise.of("0.01", 0), purpose="race")
        granted += 1
    except BudgetError:
        pass
print(granted)
"""


@pytest.mark.parametrize("anchored", [False, True])
def test_four_processes_race_200_attempts_on_a_budget_for_100(tmp_path, anchored):
    path = tmp_path / "ledger.covey"
    anchor = tmp_path / "anchor.json" if anchored else None
    ledger = Ledger.create(path, dataset="trips", epsilon=1, anchor=anchor)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    racers = [subprocess.Popen([sys.executable, "-c", RACE, str(path)], **pipes) for _ in range(4)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    granted = [racer.communicate("go\n", timeout=280)[0] for racer in racers]
    assert sum(map(int, granted)) == 100
    assert ledger.datasets()["trips"].remaining == Cost(Fraction(0))
    assert ledger.verify().charges == 100

"""Changed, cut, swapped and restored ledgers are noticed; what cannot be noticed is shown too."""

import json
import random
import shutil
import sqlite3
from contextlib import suppress

import pytest

from covey.budget import Ledger, Promise
from covey.budget.ledger import chain
from covey.errors import LedgerError


@pytest.fixture
def path(tmp_path):
    """A ledger with several charges, an unfinished one, a small release and one that spans pages."""
    path = tmp_path / "ledger.covey"
    ledger = Ledger.create(path, dataset="trips", epsilon=5, delta="1e-6")
    ledger.add("homes", epsilon=2)
    fill(ledger)
    return path


def fill(ledger):
    for name, document in (("may", b"centres"), ("june", random.Random(1).randbytes(9000))):
        receipt = ledger.charge("trips", Promise.of("0.5", "1e-7"), purpose="k-means", key=name, parameters="k=5")
        ledger.finish(receipt, document)
    ledger.charge("homes", Promise.of(1, 0), purpose="map")


def content(ledger):
    """All that the ledger means."""
    ledger.verify()
    stored = [ledger.stored("trips", key=key, parameters="k=5") for key in ("may", "june")]
    return ledger.entries(), ledger.datasets(), stored


def change(path, *statements):
    connection = sqlite3.connect(path)
    with connection:
        for sql, *values in statements:
            connection.execute(sql, values)
    connection.close()


def refused(path, words):
    """Neither a check nor a charge goes through, and the charge leaves no trace."""
    before = path.read_bytes()
    ledger = Ledger(store_of(path))
    for call in (ledger.verify, lambda: Ledger.open(path), lambda: spend(ledger), ledger.entries):
        with pytest.raises(LedgerError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def store_of(path):
    from covey.budget.ledger.store import Store

    return Store(path)


def spend(ledger):
    return ledger.charge("trips", Promise.of("0.01", 0), purpose="map")


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ([("UPDATE entries SET epsilon = 1 WHERE sequence = 4",)], "entry 4 was changed"),
        ([("UPDATE entries SET epsilon = 500000000.0 WHERE sequence = 4",)], None),  # SQLite stores the same integer
        ([("UPDATE entries SET epsilon = '0.5' WHERE sequence = 4",)], "entry 4 was changed"),
        ([("UPDATE entries SET delta = delta - 1 WHERE sequence = 6",)], "entry 6 was changed"),
        ([("UPDATE entries SET dataset = 'homes' WHERE sequence = 4",)], "entry 4 was changed"),
        ([("UPDATE entries SET purpose = x'00' WHERE sequence = 4",)], "entry 4 was changed"),
        ([("UPDATE entries SET time = '1970-01-01' WHERE sequence = 4",)], "entry 4 was changed"),
        ([("UPDATE entries SET epsilon = 99 * epsilon WHERE kind = 'dataset'",)], "entry 2 was changed"),
        ([("UPDATE entries SET key = NULL WHERE sequence = 4",)], "entry 4 was changed"),
        ([("UPDATE entries SET hash = previous WHERE sequence = 4",)], "entry 4 was changed"),
        ([("DELETE FROM entries WHERE sequence = 4",)], "entry 4 is missing"),
        ([("DELETE FROM entries WHERE sequence = 1",)], "entry 1 is missing"),
        ([("DELETE FROM entries WHERE sequence = 8",)], "the last entry is 7, but the head"),
        ([("DELETE FROM entries",)], "no entries"),
        ([("DELETE FROM head",)], "head"),
        ([("UPDATE head SET sequence = 7",)], "head"),
        ([("INSERT INTO head VALUES (2, 8, 'x')",)], "head"),
        (
            [
                ("DELETE FROM entries WHERE sequence = 4",),
                ("UPDATE entries SET sequence = sequence - 1 WHERE sequence > 4",),
            ],
            "entry 4 does not follow entry 3",
        ),
        (
            [
                ("UPDATE entries SET sequence = 99 WHERE sequence = 4",),
                ("UPDATE entries SET sequence = 4 WHERE sequence = 6",),
                ("UPDATE entries SET sequence = 6 WHERE sequence = 99",),
            ],
            "entry 4 does not follow entry 3",
        ),
        ([("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",)], "tables were changed"),
        ([("CREATE TABLE more (x)",)], "tables were changed"),
        ([("DROP TABLE releases",)], "tables were changed"),
        ([("PRAGMA application_id = 7",)], "not a Covey ledger"),
        ([("PRAGMA user_version = 0",)], "format 0"),
    ],
)
def test_changes_by_sql_are_noticed_and_named(path, statements, words):
    before = content(Ledger.open(path))
    change(path, *statements)
    if words is None:
        assert content(Ledger.open(path)) == before
    else:
        refused(path, words)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (("UPDATE releases SET document = ? WHERE sequence = 5", b"CENTRES"), "entry 5 is missing or was changed"),
        (("UPDATE releases SET document = 'centres' WHERE sequence = 5",), "entry 5 is missing or was changed"),
        (("DELETE FROM releases WHERE sequence = 5",), "entry 5 is missing or was changed"),
    ],
)
def test_a_changed_release_is_noticed_and_not_handed_out(path, statement, words):
    change(path, statement)
    ledger = Ledger.open(path)
    for call in (ledger.verify, lambda: ledger.stored("trips", key="may", parameters="k=5")):
        with pytest.raises(LedgerError, match=words):
            call()


def test_a_release_that_nobody_paid_for_is_noticed(path):
    change(path, ("INSERT INTO releases VALUES (99, ?)", b"free"))
    with pytest.raises(LedgerError, match="no entry records"):
        Ledger.open(path).verify()


def test_another_journal_mode_is_refused(path):
    change(path, ("PRAGMA journal_mode=WAL",))
    with pytest.raises(LedgerError, match="journal mode"):
        Ledger.open(path)


def forged(path, after, **fields):
    """Write a well-linked entry as only someone who rewrites the ledger could."""
    connection = sqlite3.connect(path)
    with connection:
        state = chain.State()
        rows = connection.execute("SELECT * FROM entries WHERE sequence <= ? ORDER BY sequence", (after,)).fetchall()
        state.entries = [chain.Entry._make(row) for row in rows]
        entry = chain.linked(state, **fields)
        connection.execute("DELETE FROM entries WHERE sequence > ?", (after,))
        connection.execute(f"INSERT INTO entries VALUES ({','.join('?' * len(entry))})", entry)
        connection.execute("UPDATE head SET sequence = ?, hash = ?", (entry.sequence, entry.hash))
    connection.close()


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "charge", "dataset": "trips", "epsilon": 10**10, "delta": 0},
        {"kind": "charge", "dataset": "trips", "epsilon": -1, "delta": 0},
        {"kind": "charge", "dataset": "trips", "epsilon": None, "delta": 0},
        {"kind": "charge", "dataset": "unknown", "epsilon": 1, "delta": 0},
        {"kind": "dataset", "dataset": "trips", "epsilon": 10**15, "delta": 0},
        {"kind": "dataset"},
        {"kind": "open", "ledger": "0" * 32},
        {"kind": "refund", "dataset": "trips", "epsilon": 1, "delta": 0},
        {"kind": "release", "charge": 4, "document": "0" * 64},
        {"kind": "release", "charge": 1, "document": "0" * 64},
        {"kind": "release", "charge": 99, "document": "0" * 64},
        {"kind": "release", "charge": None, "document": "0" * 64},
    ],
)
def test_a_well_linked_entry_must_make_sense_as_well(path, fields):
    forged(path, 8, **fields)
    refused(path, "entry 9 is not valid")


@pytest.mark.parametrize("amounts", ["-1, 0", "0, -1", "1001, 0", "1000, 1", "1.5, 0"])
def test_zones_are_charged_between_nothing_and_what_all_rows_are(path, amounts):
    zones = f'{{"of": "here", "zones": [["home", {amounts}]]}}'
    forged(path, 8, kind="charge", dataset="trips", epsilon=1000, delta=0, receipt="0" * 64, zones=zones)
    refused(path, "entry 9 is not valid: its zones")


def test_a_charge_pays_for_one_release(path):
    ledger = Ledger.open(path)
    ledger.finish(spend(ledger), b"map")  # entries 9 and 10
    forged(path, 10, kind="release", charge=9, document="0" * 64)
    refused(path, "entry 11 is not valid: it names no unfinished charge")


def test_a_ledger_must_begin_with_its_opening(path):
    forged(path, 0, kind="dataset", dataset="trips", epsilon=10**15, delta=0)
    refused(path, "entry 1 is not valid")


@pytest.mark.parametrize("part", range(3))
def test_any_flipped_byte_is_noticed_or_changes_nothing(path, part, tmp_path):
    whole = path.read_bytes()
    meaning = content(Ledger.open(path))
    chooser = random.Random(part)
    schema = range(whole.index(b"CREATE TABLE"), 4096)
    places = [*chooser.sample(range(100), 20), *chooser.sample(schema, 15), *chooser.sample(range(100, len(whole)), 40)]
    copy, noticed = tmp_path / "copy.covey", 0
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << chooser.randrange(8) if chooser.random() < 0.7 else chooser.randrange(1, 256)
        copy.write_bytes(flipped)
        try:
            assert content(Ledger.open(copy)) == meaning, place
        except LedgerError:
            noticed += 1
        # A charge may still go through where nothing or only a stored release is damaged; then nothing is lost.
        with suppress(LedgerError):
            spend(Ledger(store_of(copy)))
            assert Ledger.open(copy).entries()[:-1] == meaning[0], place
        for rest in tmp_path.glob("copy.covey*"):
            rest.unlink()
    assert noticed >= 20


def test_any_truncation_is_noticed(path, tmp_path):
    whole = path.read_bytes()
    copy = tmp_path / "copy.covey"
    chooser = random.Random(4)
    for length in {*range(0, len(whole), 1024), *chooser.sample(range(len(whole)), 40), 1, 99, 100, len(whole) - 1}:
        copy.write_bytes(whole[:length])
        for call in (lambda: Ledger(store_of(copy)).verify(), lambda: spend(Ledger(store_of(copy)))):
            with pytest.raises(LedgerError):
                call()
        copy.unlink()


class TestAnchor:
    @pytest.fixture
    def anchored(self, tmp_path):
        path, anchor = tmp_path / "ledger.covey", tmp_path / "elsewhere" / "anchor.json"
        anchor.parent.mkdir()
        ledger = Ledger.create(path, dataset="trips", epsilon=5, delta="1e-6", anchor=anchor)
        ledger.add("homes", epsilon=2)
        fill(ledger)
        return ledger, path, anchor

    def test_it_names_the_head_after_every_entry(self, anchored):
        ledger, _, anchor = anchored
        spend(ledger)
        written = json.loads(anchor.read_text())
        assert written["sequence"] == ledger.head.sequence
        assert ledger.verify().anchored

    def test_it_tells_nothing_of_what_the_entries_hold(self, anchored):
        """Salted with a secret of the ledger: nobody can try out documents or amounts against it."""
        ledger, _, anchor = anchored
        hashes = [entry.hash for entry in ledger.entries()]
        assert set(json.loads(anchor.read_text())) == {"format", "ledger", "sequence", "mark"}
        assert not any(each in anchor.read_text() for each in [*hashes, ledger.entries()[0].receipt])

    def test_a_restored_old_copy_is_refused(self, anchored, tmp_path):
        ledger, path, _ = anchored
        old = tmp_path / "backup"
        shutil.copy(path, old)
        spend(ledger)
        shutil.copy(old, path)
        refused(path, "old copy")

    def test_without_an_anchor_a_restored_old_copy_goes_unnoticed(self, path, tmp_path):
        """The documented limit: an old copy is a valid ledger, and its budget can be spent again."""
        old = tmp_path / "backup"
        shutil.copy(path, old)
        spend(Ledger.open(path))
        head = Ledger.open(path).head
        shutil.copy(old, path)
        ledger = Ledger.open(path)
        ledger.verify()
        again = spend(ledger)
        assert again.sequence == head.sequence

    def test_a_last_entry_removed_together_with_the_head_is_noticed(self, anchored):
        _, path, _ = anchored
        change(
            path,
            ("DELETE FROM entries WHERE sequence = 8",),
            ("UPDATE head SET sequence = 7, hash = (SELECT hash FROM entries WHERE sequence = 7)",),
        )
        refused(path, "old copy")

    def test_a_ledger_rewritten_behind_its_anchor_is_noticed(self, anchored):
        _, path, _ = anchored
        forged(path, 7, kind="charge", dataset="homes", epsilon=1, delta=0, receipt="forged")
        refused(path, "entry 8 is not the one its anchor")

    def test_another_ledger_s_anchor_is_refused(self, anchored, tmp_path):
        _, path, anchor = anchored
        other = tmp_path / "other.json"
        Ledger.create(tmp_path / "other.covey", dataset="trips", epsilon=1, anchor=other)
        shutil.copy(other, anchor)
        refused(path, "another ledger")

    def test_a_missing_anchor_is_refused_with_the_remedy_and_can_be_renewed(self, anchored):
        ledger, path, anchor = anchored
        with pytest.raises(LedgerError, match="exists already"):
            Ledger.renew_anchor(path)
        anchor.unlink()
        refused(path, "renew_anchor")
        spend(Ledger.renew_anchor(path))
        ledger.verify()

    @pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": "covey-anchor-2"}', "\x00\xff"])
    def test_a_damaged_anchor_is_refused(self, anchored, text):
        _, path, anchor = anchored
        anchor.write_text(text)
        refused(path, "anchor")

    def test_an_anchor_in_use_is_not_taken_over(self, anchored, tmp_path):
        _, _, anchor = anchored
        before = anchor.read_bytes()
        with pytest.raises(LedgerError, match="exists already"):
            Ledger.create(tmp_path / "second.covey", dataset="trips", epsilon=1, anchor=anchor)
        assert anchor.read_bytes() == before
        assert not (tmp_path / "second.covey").exists()

    def test_a_ledger_ahead_of_its_anchor_is_fine(self, anchored):
        ledger, _, anchor = anchored
        before = anchor.read_bytes()
        spend(ledger)
        anchor.write_bytes(before)
        ledger.verify()
        spend(ledger)
        assert json.loads(anchor.read_text())["sequence"] == 10

    def test_it_never_moves_back(self, anchored):
        from covey.budget.ledger import anchor as anchors
        from covey.budget.ledger.chain import State

        ledger, _, anchor = anchored
        before = anchor.read_bytes()
        entries = ledger.entries()
        opened = entries[0]
        anchors.advance(State(opened.ledger, str(anchor), opened.receipt, list(entries[:4])))
        assert anchor.read_bytes() == before

    def test_a_charge_whose_anchor_cannot_be_written_stands_and_says_so(self, anchored, monkeypatch):
        from covey.budget.ledger import anchor as anchors

        ledger, _, _ = anchored

        def fails(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(anchors, "_write", fails)
        with pytest.raises(LedgerError, match=r"entry 9 is in the ledger, but its anchor is not.*No space"):
            spend(ledger)
        monkeypatch.undo()
        assert ledger.verify().entries == 9

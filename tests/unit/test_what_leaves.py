"""The second door: what is published tells nothing of the ledger but a fresh receipt, nothing of clock or folder."""

import json

import numpy as np
import pytest

from covey import Coreset, KMeans, Ledger, PrivateCoreset
from covey.budget import Promise
from covey.fit.fit import fit
from covey.fit.slider import LevelSet, fit_levels
from covey.published.levels.files import to_json
from randomness import same_randomness

ROWS = np.random.default_rng(3).uniform(-1, 1, (500, 2))
ASKED = {"k": 2, "epsilon": 1, "bounds": (-1, 1), "algorithm": "grid", "dataset": "trips"}


def history(folder, *, name, entries):
    """A ledger with a past of its own, about to be charged for `trips`."""
    folder.mkdir()
    anchor = folder / "anchor" if entries else None
    book = Ledger.create(folder / name, dataset="trips", epsilon=9 + entries, delta="1e-3", anchor=anchor)
    for number in range(entries):
        book.add(f"other {number}", epsilon=3)
        receipt = book.charge(f"other {number}", Promise.of(1), purpose=f"trial {number}", key=f"k{number}")
        book.finish(receipt, b"a release that was thrown away" * number)
        book.charge("trips", Promise.of("0.1"), purpose="unfinished")
    return book


def releases(book):
    """One of each kind of document that a fit leaves."""
    with same_randomness(1):
        yield "release", fit(ROWS, **ASKED, ledger=book).to_json()
    with same_randomness(2):
        yield "levels", to_json(fit_levels(ROWS, bounds=(-1, 1), ledger=book, dataset="trips"))
    with same_randomness(3):
        found = PrivateCoreset(2, epsilon=1, bounds=(-1, 1), ledger=book, dataset="trips").fit(ROWS).coreset_
        yield "coreset", json.dumps([found.points.tolist(), found.weights.tolist(), repr(found.certificate)]).encode()


def test_what_else_a_ledger_holds_changes_no_byte_of_a_release(tmp_path, monkeypatch):
    """Other documents, times, paths and data sets: a hash that commits to them would differ, and could be tried out."""
    monkeypatch.setattr("covey.budget.ledger.chain.now", lambda: "2026-01-01T00:00:00+00:00")
    first = dict(releases(history(tmp_path / "a", name="x.ledger", entries=0)))
    monkeypatch.setattr("covey.budget.ledger.chain.now", lambda: "2031-12-31T23:59:59+00:00")
    assert dict(releases(history(tmp_path / "b", name="y.book", entries=3))) == first


def test_a_receipt_is_fresh_and_all_that_a_certificate_shows_of_the_ledger(tmp_path):
    book = Ledger.create(tmp_path / "x.ledger", dataset="trips", epsilon=9)
    made = [fit(ROWS, **ASKED, ledger=book) for _ in range(3)]
    receipts = [each.certificate.receipt for each in made]
    assert len({*receipts}) == 3
    assert all(len(bytes.fromhex(each)) == 32 for each in receipts)
    assert [book.find(each) for each in receipts] == [3, 5, 7]
    for each in made:
        text = each.to_json().decode()
        known = [entry.hash for entry in book.entries()] + [book.entries()[0].ledger, book.entries()[0].receipt]
        assert not any(word in text for word in known)
        assert not any(entry.time in text for entry in book.entries())
    levels = fit_levels(ROWS, bounds=(-1, 1), ledger=book, dataset="trips")
    assert levels.release(0, 2, chosen="in advance").certificate.receipt == levels.certificate.receipt
    assert book.find(levels.certificate.receipt) == 9


def test_without_a_file_there_is_no_receipt():
    book = Ledger.memory(dataset="trips", epsilon=9)
    assert fit(ROWS, **ASKED, ledger=book).certificate.receipt is None
    assert fit(ROWS, **ASKED).certificate.receipt is None


def test_a_finished_release_is_handed_out_again_byte_by_byte(tmp_path):
    book = Ledger.create(tmp_path / "x.ledger", dataset="trips", epsilon=9)
    release = fit(ROWS, **ASKED, ledger=book)
    levels = fit_levels(ROWS, bounds=(-1, 1), ledger=book, dataset="trips")
    spent = book.datasets()["trips"].spent
    again = Ledger.open(tmp_path / "x.ledger")
    assert again.document(3) == release.to_json()
    assert again.document(5) == to_json(levels)
    assert book.datasets()["trips"].spent == spent


def test_levels_that_are_got_again_promise_what_all_of_them_do(tmp_path):
    book = Ledger.create(tmp_path / "x.ledger", dataset="trips", epsilon=9)
    fit_levels(ROWS, bounds=(-1, 1), ledger=book, dataset="trips")
    (tmp_path / "levels.json").write_bytes(book.document(3))
    again = LevelSet.load(tmp_path / "levels.json")
    assert again.certificate.epsilon == 2.0
    assert "least private level shown" in again.release(0, 2).certificate.statement


@pytest.mark.parametrize("algorithm", ["lloyd", "grid"])
def test_a_merge_shows_the_receipts_of_its_parts(tmp_path, algorithm):
    book = Ledger.create(tmp_path / "x.ledger", dataset="trips", epsilon=9)
    kept = {"algorithm": "grid", "algorithm_params": {"keep_synopsis": True}}
    parts = [Coreset.of(fit(ROWS, **(ASKED | kept), ledger=book)) for _ in range(2)]
    merged = (parts[0] + parts[1]).certificate
    assert merged.receipt is None
    assert [each.receipt for each in merged.leaves()] == [each.certificate.receipt for each in parts]
    assert "No durable ledger" not in merged.statement
    assert KMeans(2, bounds=(-1, 1), algorithm=algorithm).fit(ROWS).release_.certificate.receipt is None

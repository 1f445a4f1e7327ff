"""Disks that fill up, break or may not be written: refused in one line, nothing half-written, no row read unpaid."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager, suppress
from errno import EIO, ENOSPC, EROFS

import pytest
from deeds import DEEDS, LEDGER, OUTPUTS, Tally, charges, check_words, errors_at_calls, make_city, suffer

from covey import Ledger


def test_errors_at_some_calls_to_the_disk(nursery, tmp_path):
    tally = errors_at_calls(nursery, tmp_path, step=100)
    assert tally.violations == []
    assert tally.refused >= tally.trials - 2
    assert tally.trials >= 8


def test_a_disk_that_is_full_before_the_charge_means_that_no_row_is_read(nursery, tmp_path):
    """The first calls belong to the check of --out and to the charge; with all of them failing, nothing may be read."""
    folder = make_city(tmp_path / "city")
    for at in range(1, 8):
        done = nursery.run(DEEDS["fit"], folder=folder, at=at, error=ENOSPC, sticky=1)
        assert (done.code, done.rows) == (2, False)
        check_words(done)
    assert charges(folder) == 0
    assert not (folder / OUTPUTS["fit"]).exists()


def test_what_was_paid_for_is_printed_when_the_ledger_can_neither_store_it_nor_be_read(nursery, tmp_path):
    """From some call of the last transaction on, the disk is full: half of it is in a journal that stays."""
    folder, tally = make_city(tmp_path / "city"), Tally()
    calls = range(44, 52)
    done = [suffer(nursery, folder, "fit", f"key-{at}", tally, at=at, error=ENOSPC, sticky=1) for at in calls]
    assert tally.violations == []
    assert sum(bool(each.rows and each.out) for each in done) >= 6


def test_what_was_paid_for_is_printed_when_only_the_output_cannot_be_written(nursery, tmp_path):
    """The ledger and the output on different disks; the output's fills up after the charge."""
    folder, elsewhere = make_city(tmp_path / "city"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    ledger = str(folder / LEDGER)
    arguments = [ledger if each == LEDGER else each for each in DEEDS["fit"]]
    arguments = [str(folder / each) if each == "rows.csv" else each for each in arguments]
    printed = 0
    for at in range(1, 9):
        paid = charges(folder)
        done = nursery.run(arguments, folder=elsewhere, at=at, error=ENOSPC, sticky=1)
        if done.code == 0:
            break
        assert done.code == 2
        check_words(done)
        assert bool(done.out) == (charges(folder) == paid + 1)
        printed += bool(done.out)
    assert printed >= 3
    assert os.listdir(elsewhere) == [OUTPUTS["fit"]], "no half file is left"


@pytest.mark.parametrize("limit", [600, 4096, 9000, 16384])
def test_a_limit_on_the_size_of_files(nursery, tmp_path, limit):
    """RLIMIT_FSIZE: the operating system itself refuses to write beyond."""
    tally = Tally()
    suffer(nursery, make_city(tmp_path / "city"), "fit", "key", tally, limit=limit)
    assert tally.violations == []


@contextmanager
def small_disk(folder, *, size="512k"):
    """A real file system of that size, unmounted afterwards; skips where mounting is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "covey", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("may not mount a file system here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def leave_free(disk, pages: int) -> None:
    """Fill the disk up to so many pages."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    with suppress(OSError), open(filler, "wb", buffering=0) as file:
        while file.write(bytes(4096)) == 4096:
            pass
    os.truncate(filler, os.path.getsize(filler) // 4096 * 4096)
    os.truncate(filler, max(0, os.path.getsize(filler) - 4096 * pages))


def full_disk(nursery, root, pages: range) -> tuple[int, int]:
    """A fit on a real disk with so many free pages, for each number; how many were refused, how many unpaid."""
    with small_disk(root / "disk") as disk:
        folder = make_city(disk / "city")
        refused = unpaid = 0
        for free in pages:
            (folder / OUTPUTS["fit"]).unlink(missing_ok=True)
            before = charges(folder)
            leave_free(disk, free)
            done = nursery.run(DEEDS["fit"], folder=folder)
            (disk / "filler").unlink()
            assert done.code in (0, 2)
            if done.code == 2:
                check_words(done)
            paid = charges(folder) - before
            assert Ledger.open(folder / LEDGER).verify()
            assert not (done.rows and not paid)
            assert not (done.rows and done.code == 2 and not done.out), "paid for, and lost"
            refused, unpaid = refused + (done.code == 2), unpaid + (not paid)
            assert not [name for name in os.listdir(folder) if name.endswith(".part")]
        return refused, unpaid


def test_a_real_disk_that_is_full(nursery, tmp_path):
    refused, unpaid = full_disk(nursery, tmp_path, range(0, 16, 3))
    assert 0 < unpaid <= refused < 6


@pytest.mark.slow
def test_a_real_disk_that_is_full_to_the_page(nursery, tmp_path):
    refused, unpaid = full_disk(nursery, tmp_path, range(40))
    assert 0 < unpaid <= refused < 40


def test_a_read_only_folder(nursery, tmp_path):
    """Permissions do not bind an administrator; a file system mounted read-only does."""
    good = make_city(tmp_path / "good")
    with small_disk(tmp_path / "disk") as disk:
        folder = make_city(disk / "city")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = nursery.run(DEEDS["fit"], folder=folder)
        assert (done.code, done.rows) == (2, False)
        check_words(done)
        out = [*DEEDS["fit"][:-3], "--out", str(folder / "release.json")]
        done = nursery.run(out, folder=good)
        assert (done.code, done.rows) == (2, False)
        check_words(done)
        assert charges(good) == 0, "an output that cannot be written is refused before the charge"
        done = nursery.run(["ledger", "verify", LEDGER], folder=folder)
        assert done.code == 0, "a ledger may be read where it may not be written"


@pytest.mark.parametrize("error", [EROFS, EIO])
def test_a_folder_in_which_nothing_can_be_written(nursery, tmp_path, error):
    folder = make_city(tmp_path / "city")
    done = nursery.run(DEEDS["fit"], folder=folder, at=1, error=error, sticky=1)
    assert (done.code, done.rows) == (2, False)
    check_words(done)
    assert charges(folder) == 0


@pytest.mark.parametrize("error", [ENOSPC, EIO])
@pytest.mark.parametrize("at", range(1, 24, 4))
def test_a_creation_that_fails_leaves_no_ledger_behind(nursery, tmp_path, at, error):
    arguments = ["ledger", "init", "new.ledger", "--dataset", "d", "--epsilon", "1", "--anchor", "new.anchor"]
    done = nursery.run(arguments, folder=tmp_path, at=at, error=error)
    if done.code == 0:
        assert Ledger.open(tmp_path / "new.ledger").verify()
    else:
        check_words(done)
        assert not (tmp_path / "new.ledger").exists()
        assert set(os.listdir(tmp_path)) <= {"new.anchor.lock", "new.anchor.new", "new.ledger-journal"}

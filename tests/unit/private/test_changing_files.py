"""Files that change, break off or are damaged: an error that names the file; the charge stays, nothing is published."""

from __future__ import annotations

import os
import random
import threading
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from test_data_sets import compressed, write

from covey import Ledger
from covey.errors import DataError
from covey.fit.fit import fit
from covey.private.tables.files import open_file
from covey.private.tables.frames import open_table

SECRET = "0.123456789"
ENDINGS = ["parquet", "arrow", "feather", "csv", "csv.gz"]
MESSAGE = r"^data: .*rows.* changed while it was read; nothing is published, any charge stays$"


def grow(path) -> None:
    with path.open("ab") as file:
        file.write(b"1,2\n")


def shrink(path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def replace(path) -> None:
    """By a file of the same length and the same times."""
    status = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


def touch(path) -> None:
    os.utime(path)


def overwrite(path) -> None:
    """In place, with the times set back."""
    status = path.stat()
    with path.open("r+b") as file:
        file.seek(status.st_size // 2)
        file.write(b"9")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def remove(path) -> None:
    path.unlink()


CHANGES = [grow, shrink, replace, touch, overwrite, remove]


def settled(path):
    """The path, once the clock of the file system has moved on: a change in the tick of the last one leaves no trace.

    Before Linux 6.13 a tick takes up to 10 ms.
    """
    probe = path.with_name("probe")
    probe.touch()
    while probe.stat().st_ctime_ns <= path.stat().st_ctime_ns:
        probe.touch()
    probe.unlink()
    return path


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr("covey.private.tables.csv.reader.BLOCK", 2**12)
    monkeypatch.setattr("covey.private.tables.base.PIECE_VALUES", 512)
    rows = np.random.default_rng(1).random((2, 3000))

    def make(ending):
        path = tmp_path / f"rows.{ending}"
        if ending == "parquet":
            pq.write_table(pa.table({"a": rows[0], "b": rows[1]}), path, row_group_size=300)
        else:
            write(path, a=rows[0], b=rows[1])
        return settled(path)

    return make


def read_all(pieces) -> None:
    for piece in pieces:
        piece()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_changes_between_two_pieces(made, ending, change):
    path = made(ending)
    table = open_file(path)
    pieces = table.pieces(("a", "b"))
    next(pieces)()
    change(path)
    with pytest.raises(DataError, match=MESSAGE):
        read_all(pieces)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv.gz"])
def test_a_file_that_changes_at_any_other_moment(made, ending, change):
    path = made(ending)
    table = open_file(path)
    table.check_unchanged()
    pieces = list(table.pieces(("a",)))  # listed, and read after the change
    change(path)
    for ask in (
        table.check_unchanged,
        lambda: list(table.pieces(None)),
        lambda: list(table.pieces_with_ids(("a",), "b")),
        lambda: list(table.chosen(None, iter([np.array([2])]))),
        lambda: table.rows(),
        *pieces[-1:],
    ):
        with pytest.raises(DataError, match=MESSAGE):
            ask()


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_mapped_into_memory(tmp_path, monkeypatch, change):
    """Reading beyond its new end would end the process."""
    monkeypatch.setattr("covey.private.tables.arrow.MOST_BYTES", 1000)
    path, rows = tmp_path / "rows.arrow", np.random.default_rng(0).random((2, 300_000))
    pyarrow.feather.write_feather(
        pa.table({"a": rows[0], "b": rows[1]}), path, compression="uncompressed", chunksize=150_000
    )
    table = open_file(settled(path))
    pieces = table.pieces(None)
    first = [next(pieces), next(pieces)]
    first[0]()
    change(path)
    with pytest.raises(DataError, match=MESSAGE):
        first[1]()
    with pytest.raises(DataError, match=MESSAGE):
        next(pieces)


def test_one_of_many_files(tmp_path):
    for i in range(5):
        write(tmp_path / f"{i}.rows.parquet", a=[1.0, 2.0])
    table = open_file(tmp_path)
    list(table.pieces(None))
    grow(tmp_path / "3.rows.parquet")
    with pytest.raises(DataError, match=r"3\.rows\.parquet' changed while it was read"):
        table.check_unchanged()
    write(tmp_path / "5.rows.parquet", a=[9.0])
    assert open_table(tmp_path / "4.rows.parquet").rows() == 2


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_file_that_somebody_keeps_writing_to(made, ending):
    """A real writer, at its own pace: whichever moment it meets, no pass that it met gives an answer."""
    path = made(ending)
    stop = threading.Event()

    def write_now_and_then() -> None:
        while not stop.wait(random.random() / 200):
            grow(path)

    table = open_file(path)
    writer = threading.Thread(target=write_now_and_then)
    writer.start()
    try:
        with pytest.raises(DataError, match=MESSAGE):
            read_all(piece for _ in range(10_000) for piece in table.pieces(None))
    finally:
        stop.set()
        writer.join()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_charge_stays_and_nothing_is_published(made, ending, monkeypatch):
    path, ledger = made(ending), Ledger.memory(dataset="d", epsilon=1)
    charge = type(ledger).charge

    def charge_then_change(self, *arguments, **options):
        done = charge(self, *arguments, **options)
        grow(path)
        return done

    monkeypatch.setattr(type(ledger), "charge", charge_then_change)
    with pytest.raises(DataError, match=MESSAGE):
        fit(path, k=2, epsilon=1, bounds=(0, 1), algorithm="lloyd", ledger=ledger, dataset="d")
    assert ledger.datasets()["d"].spent.epsilon == Fraction(1)


# Damage


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
@pytest.mark.parametrize("left", [0, 5, 0.5, -1, -9])
def test_a_truncated_file_with_a_footer_is_refused_before_the_charge(made, ending, left):
    path, ledger = made(ending), Ledger.memory(dataset="d", epsilon=1)
    size = path.stat().st_size
    os.truncate(path, int(size * left) if isinstance(left, float) else left if left >= 0 else size + left)
    before = ledger.head
    with pytest.raises(DataError, match=rf"rows.{ending}' cannot be read as a \w+ file; it may be damaged"):
        fit(path, k=2, epsilon=1, bounds=(0, 1), ledger=ledger, dataset="d")
    assert ledger.head == before


def test_the_damaged_one_of_many_files_is_named(tmp_path):
    for i in range(5):
        write(tmp_path / f"{i}.parquet", a=[1.0])
    shrink(tmp_path / "3.parquet")
    with pytest.raises(DataError, match=r"3.parquet' cannot be read as a Parquet file"):
        open_file(tmp_path)


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.xz", "csv.zst", "csv.lz4"])
@pytest.mark.parametrize("damage", ["truncated", "followed"])
def test_a_compressed_csv_that_breaks_off_is_an_error_and_its_charge_stays(tmp_path, ending, damage):
    if (ending, damage) == ("csv.xz", "followed"):
        pytest.skip("the format ends where it ends")
    path, ledger = tmp_path / f"rows.{ending}", Ledger.memory(dataset="d", epsilon=1)
    digits = np.random.default_rng(0).integers(ord("0"), ord("9"), (60_000, 11), dtype=np.uint8)
    digits[:, [0, 6]], digits[:, 5], digits[:, 10] = ord("."), ord(","), ord("\n")
    content = compressed(b"a,b\n" + digits.tobytes(), path.name)
    path.write_bytes(content[: len(content) * 3 // 4] if damage == "truncated" else content + SECRET.encode())
    with pytest.raises(DataError, match=rf"rows.{ending}' broke off while it was read; .* any charge stays") as refusal:
        fit(path, k=2, epsilon=1, bounds=(0, 1), algorithm="lloyd", ledger=ledger, dataset="d")
    assert ledger.datasets()["d"].spent.epsilon == Fraction(1)
    assert refusal.value.__cause__ is None
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.xz", "csv.zst", "csv.lz4"])
def test_what_is_not_compressed_as_its_name_says_is_refused(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_text(f"a,b\n{SECRET},2\n")
    with pytest.raises(DataError, match=r"cannot be read as a CSV file") as refusal:
        open_file(path)
    assert SECRET not in str(refusal.value)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"header line|cannot be read"):
        open_file(path)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_damage_in_the_middle_is_met_while_reading(made, ending):
    path = made(ending)
    content = bytearray(path.read_bytes())
    content[1000:5000] = b"\xff" * 4000
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"broke off while it was read"):
        read_all(open_file(path).pieces(None))

"""Killed at any moment: no release and no row read without a charge, no half file, one release for one key.

The full size, 500 at random and every call to the disk, is full.py.
"""

from __future__ import annotations

from children import KILLED
from deeds import DEEDS, Tally, charges, kills_at_calls, kills_at_random_moments, make_city, suffer


def test_kills_at_random_moments(nursery, tmp_path):
    tally = kills_at_random_moments(nursery, tmp_path, count=9, seed=1, least=5)
    assert tally.violations == []
    assert tally.trials >= 9
    assert tally.killed >= 5


def test_kills_before_after_and_within_calls_to_the_disk(nursery, tmp_path):
    tally = kills_at_calls(nursery, tmp_path, step=70)
    assert tally.violations == []
    assert tally.killed == tally.trials >= 9


def test_a_kill_between_charge_and_release_is_noticed_by_these_checks(nursery, tmp_path, monkeypatch):
    """Power: a ledger that forgets its last charge is caught by `check`."""
    import deeds

    folder = make_city(tmp_path / "city", anchored=False)
    empty = (folder / deeds.LEDGER).read_bytes()
    real = nursery.run

    def forgetful(*arguments, **more):
        done = real(*arguments, **more)
        (folder / deeds.LEDGER).write_bytes(empty)
        return done

    monkeypatch.setattr(nursery, "run", forgetful)
    tally = Tally()
    suffer(nursery, folder, "fit", "key", tally)
    assert "rows were read without a charge" in tally.violations[0]


def test_the_nursery_tells_rows_from_no_rows_and_counts_calls(nursery, tmp_path):
    folder = make_city(tmp_path / "city")
    assert nursery.run(["ledger", "verify", "city.ledger"], folder=folder).rows is False
    done = nursery.run(DEEDS["fit"], folder=folder)
    assert (done.code, done.rows) == (0, True)
    assert done.calls > 40
    assert nursery.run(DEEDS["fit"], folder=folder, at=1, error=-1).code == KILLED
    assert charges(folder) == 1

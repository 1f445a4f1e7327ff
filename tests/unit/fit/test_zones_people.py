"""Zones and people with several rows: one coin for a person, at the rate of the strictest zone they have any row in."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from covey import Box
from covey.budget.ledger.ledger import Ledger
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.fit.zones import read_zones
from covey.noise.source import SeededSource, new_key
from covey.private.narrowed import pairs
from covey.private.narrowed.cap import CappedTable
from covey.private.tables.frames import open_table
from covey.public import resolve_bounds

BOX = Box(lon=(-1, 1), lat=(-1, 1))
DOMAIN = resolve_bounds(BOX, names=("lon", "lat", "who"), width=3)
INSIDE, STRICT, OUT = (-0.5, -0.5), (-0.9, -0.9), (0.5, 0.5)
ZONES = [(Box(lon=(-1, 0), lat=(-1, 0)), 0.3), (Box(lon=(-1, -0.8), lat=(-1, -0.8)), 0.1)]


def table(rows: list[tuple[float, float]], repeats: int) -> pd.DataFrame:
    """`repeats` people who all have these rows."""
    points = np.array(rows * repeats)
    who = np.repeat(np.arange(repeats), len(rows))
    return pd.DataFrame({"lon": points[:, 0], "lat": points[:, 1], "who": who})


def kept(data: pd.DataFrame, *, most: int, seed: int = 0) -> np.ndarray:
    thinning = read_zones(ZONES, epsilon=Fraction(1), domain=DOMAIN)
    capped = CappedTable(open_table(data), DOMAIN, "who", most=most, key=new_key(SeededSource(seed)))
    zoned = thinning.table(capped, SeededSource(seed))
    found = np.concatenate([np.empty((3, 0)), *(piece() for piece in zoned.pieces(DOMAIN.columns))], axis=1)
    assert zoned.by_person
    assert set(found[2].tolist()) <= {0.0, 1.0, 2.0}  # behind the coordinates, the zone of each row's person
    return found[:2]


def rate(epsilon: float) -> float:
    return math.expm1(epsilon) / math.expm1(1)


@pytest.mark.parametrize(
    ("rows", "q"),
    [
        ([OUT, OUT], 1.0),
        ([OUT, INSIDE], rate(0.3)),
        ([OUT, STRICT, INSIDE], rate(0.1)),
        ([OUT] * 7 + [STRICT], rate(0.1)),  # seldom the row that counts
    ],
)
@pytest.mark.parametrize("most", [1, 2, 8])
def test_a_person_stays_whole_at_the_rate_of_their_strictest_row(rows, q, most):
    n = 6000
    found = kept(table(rows, n), most=most).shape[1]
    each = min(most, len(rows))
    assert found % each == 0
    assert abs(found / each - n * q) <= 5 * math.sqrt(n * q * (1 - q))


def test_the_passes_do_not_show(monkeypatch):
    data = table([OUT, INSIDE, STRICT], 40)
    expected = kept(data, most=2)
    monkeypatch.setattr(pairs, "AT_ONCE", 7)
    monkeypatch.setattr(pairs, "SHARE", 2)
    again = kept(data.sample(frac=1, random_state=1), most=2)
    assert sorted(map(tuple, again.T.tolist())) == sorted(map(tuple, expected.T.tolist()))


def test_a_person_more_changes_nobody_elses_rows_or_coin():
    data = table([OUT, INSIDE, STRICT], 40)
    more = pd.DataFrame({"lon": [-0.9] * 9, "lat": [-0.9] * 9, "who": [999] * 9})
    before = kept(data, most=2)
    after = kept(pd.concat([data[:50], more, data[50:]]), most=2)
    extra = after.shape[1] - before.shape[1]
    assert extra in (0, 2)
    left = sorted(map(tuple, after.T.tolist()))
    for row in map(tuple, before.T.tolist()):
        left.remove(row)
    assert left == [STRICT] * extra


def test_a_fit_says_so_and_a_choice_of_rows_is_refused():
    data = table([OUT, INSIDE], 300)
    release = fit(data, k=2, epsilon=1.0, bounds=BOX, zones=ZONES, person="who", rows_per_person=2, algorithm="grid")
    assert [zone["epsilon"] for zone in release.certificate.parameters["zones"]] == [0.3, 0.1]
    assert "people with a row in it" in release.certificate.parameters["zones_note"]
    book = Ledger.memory()
    with pytest.raises(ParameterError, match="zones"):
        fit(
            data,
            k=2,
            epsilon=1.0,
            bounds=BOX,
            zones=ZONES,
            person="who",
            rows_per_person="auto",
            ledger=book,
            dataset="data",
        )
    assert book.datasets()["data"].spent.epsilon == 0

"""The owner's view: the true centres, and a sample that is evenly spaced."""

from __future__ import annotations

import numpy as np
import pytest

from covey.private.owner import OwnersView
from covey.public import resolve_bounds
from studio_client import BOUNDS, csv_of, town

DOMAIN = resolve_bounds(BOUNDS, names=("lon", "lat"), width=2)


@pytest.mark.parametrize("kind", ["array", "csv"])
def test_the_owners_view_finds_the_true_centres(tmp_path, kind):
    rows = town(20_000)
    data = rows if kind == "array" else csv_of(rows, tmp_path / "rows.csv")
    view = OwnersView(data, DOMAIN, most=3000)
    assert 1500 <= len(view._rows) <= 3000
    centres = np.array(view.nonprivate_centres(3))
    for middle in ([-74.05, 40.75], [-73.95, 40.74], [-74.0, 40.85]):
        assert np.abs(centres - middle).max(axis=1).min() < 0.001
    assert repr(view) == "<OwnersView>"


def test_the_owners_sample_is_evenly_spaced():
    """Rows whose number is a multiple of a power of two, across the borders of pieces."""
    count = 300_001
    rows = np.stack([np.linspace(-74.1, -73.9, count), np.full(count, 40.8)], axis=1)
    kept = OwnersView(rows, DOMAIN, most=1000)._rows[:, 0]
    steps = np.diff(kept)
    assert 500 <= len(kept) <= 1000
    assert steps.max() - steps.min() < 1e-6


def test_the_owners_view_of_no_rows_is_the_middle():
    assert OwnersView(np.empty((0, 2)), DOMAIN).nonprivate_centres(2) == pytest.approx(np.array([[-74.0, 40.8]] * 2))

"""Ranges that were found privately, in words."""

from __future__ import annotations

from covey.published.bounds import FoundBounds, show_bounds
from covey.published.certificate import Certificate


def test_ends_far_from_0_are_told_apart(capsys):
    """Six digits told both ends of a year's seconds as one number."""
    promise = Certificate(
        algorithm="bounds",
        parameters={},
        epsilon=0.1,
        delta=0.0,
        neighbours="add-remove",
        person="one row",
        domain={"type": "none"},
        seeded=False,
        covey="test",
    )
    show_bounds(FoundBounds({"when": (1700000000.0, 1700000900.0), "x": (-0.125, 0.5), "y": None}, promise))
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["when", "1700000000.00", "1700000900.00"] in told
    assert ["x", "-0.12500", "0.50000"] in told
    assert ["y", "no", "range"] in told

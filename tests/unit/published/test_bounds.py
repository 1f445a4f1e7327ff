"""Ranges that were found privately, in words."""

from __future__ import annotations

from covey.published.bounds import FoundBounds, show_bounds
from covey.published.certificate import Certificate

PROMISE = Certificate(
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


def test_ends_far_from_0_are_told_apart(capsys):
    """Six digits told both ends of a year's seconds as one number."""
    show_bounds(FoundBounds({"when": (1700000000.0, 1700000900.0), "x": (-0.125, 0.5), "y": None}, PROMISE))
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["when", "1700000000.00", "1700000900.00"] in told
    assert ["x", "-0.12500", "0.50000"] in told
    assert ["y", "no", "range"] in told


def test_numbers_beyond_the_last_magnitude_are_not_said_to_lie_within(capsys):
    """All of 3,000 numbers of about 1e200 lie beyond the range that is found."""
    show_bounds(FoundBounds({"x": (-2.8e19, 2.8e19), "y": (0.0, 1.0)}, PROMISE))
    assert "rows of x may lie far beyond" in " ".join(capsys.readouterr().out.split())
    show_bounds(FoundBounds({"y": (0.0, 1.0)}, PROMISE))
    assert "beyond what was found" not in " ".join(capsys.readouterr().out.split())

"""Amounts that planted bugs got wrong unnoticed (mutants/)."""

from __future__ import annotations

import inspect
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amplify import amplified, inner_cost
from covey.budget.ledger.ledger import Ledger
from covey.errors import LedgerError
from covey.events import exactly
from covey.fit.fit import fit


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)])
def test_what_may_be_spent_on_a_sample_amplifies_to_the_whole(rate):
    """Not more in either amount, and hardly less in epsilon."""
    for epsilon, delta in product((Fraction(1, 10), Fraction(1), Fraction(5)), (Fraction(0), Fraction(1, 10**6))):
        whole = Cost(epsilon, delta)
        again = amplified(inner_cost(whole, rate=rate), rate=rate)
        assert again.within(whole)
        assert again.epsilon > epsilon * Fraction(999, 1000)
        assert again.delta <= delta


ROWS = np.random.default_rng(0).uniform(-1, 1, (60, 2))
PLAIN = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "grid", "algorithm_params": {"starts": 2}}
OTHER = {
    "k": 3,
    "epsilon": 1.5,
    "delta": 1e-6,
    "bounds": (-2, 1),
    "algorithm": "lloyd",
    "algorithm_params": {"starts": 3},
    "objective": "k-median",
    "neighbours": "replace-one",
    "sample": 0.5,
    "missing": "drop",
    "scale": [1, 2],
    "random_state": 3,
    "errors": "none",
    "choice": "asked for with sight of raw data",
}


@pytest.mark.parametrize("name", OTHER)
def test_a_key_is_bound_to_every_parameter(name):
    """A release that is stored under a key is never handed out for a fit that asked for something else."""
    ledger = Ledger.memory(dataset="d", epsilon=9, delta=Fraction(1, 2)).with_key("monday")
    asked = {**PLAIN, "ledger": ledger, "dataset": "d"}
    if name == "delta":
        asked["algorithm"], asked["algorithm_params"] = "auto", None
    if name == "algorithm":
        asked["algorithm_params"] = None
    first = fit(ROWS, **asked)
    assert fit(ROWS, **asked).to_json() == first.to_json()
    with pytest.raises(LedgerError, match="other parameters"):
        fit(ROWS, **{**asked, name: OTHER[name]})


def test_every_parameter_that_changes_a_release_is_tried():
    free = {"data", "ledger", "dataset", "engine", "progress"}  # do not change what is released
    people = {"person", "rows_per_person", "zones"}  # need columns with names: tried with them
    elsewhere = {"k_range"}  # goes with k="auto" alone: unit/fit/test_chosen.py
    assert set(inspect.signature(fit).parameters) == set(OTHER) | free | people | elsewhere


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_certificate_says_what_was_asked_for(neighbours):
    for algorithm, delta in (("lloyd", None), ("auto", 1e-6)):
        ledger = Ledger.memory(dataset="d", epsilon=9, delta=Fraction(1, 2), neighbours=neighbours)
        release = fit(
            np.tile(ROWS, (1, 3)),  # in six columns a delta can be used
            k=2,
            epsilon=0.75,
            delta=delta,
            bounds=(-1, 1),
            algorithm=algorithm,
            neighbours=neighbours,
            ledger=ledger,
            dataset="d",
        )
        said, spent = release.certificate, ledger.datasets()["d"].spent
        assert (said.epsilon, said.delta, said.neighbours) == (0.75, delta or 0, neighbours)
        assert (exactly(said.epsilon), exactly(said.delta)) == (spent.epsilon, spent.delta)
        assert not said.seeded


@pytest.mark.parametrize("sample", [None, 0.5])
def test_without_a_seed_no_two_fits_have_the_same_noise(sample):
    """Public randomness alone makes centres differ; the noisy cells themselves must.

    There may be a single cell; its noise has a scale of 10 or more, so three values in 12 fits have odds below 10^-8.
    """
    asked = {**PLAIN, "algorithm_params": {"starts": 1, "keep_synopsis": True}, "epsilon": 0.1, "sample": sample}
    seen = [tuple(fit(ROWS, **asked, neighbours="replace-one").synopsis.counts) for _ in range(12)]
    assert len(set(seen)) > 3
    seeded = {tuple(fit(ROWS, **asked, neighbours="replace-one", random_state=5).synopsis.counts) for _ in range(4)}
    assert len(seeded) == 1

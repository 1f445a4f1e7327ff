"""Certificates say no less than was spent, and claim no ledger that was not kept; odd names are refused unpaid."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from covey import Box, Coreset, KMeans, Ledger
from covey.errors import DataError, ParameterError
from covey.fit.fit import fit

ROWS = np.random.default_rng(0).random((60, 2))


@pytest.mark.parametrize("epsilon", [1.2345649, 0.1000004, Fraction(1, 3), Fraction(10**9 + 1, 10**10), 0.3, 1, 1e-6])
def test_no_certificate_says_less_than_was_spent(epsilon):
    release = fit(ROWS, k=2, epsilon=epsilon, bounds=(0, 1), algorithm="grid", algorithm_params={"keep_synopsis": True})
    spent = epsilon if isinstance(epsilon, Fraction) else Fraction(str(epsilon))
    certificate = release.certificate
    assert spent <= Fraction(str(certificate.epsilon)) <= spent * (1 + Fraction(1, 10**15))
    told = certificate.statement.split("epsilon = ")[1].split(": ")[0]
    assert Fraction(told) >= spent
    assert Fraction(json.loads(release.to_json())["statement"].split("epsilon = ")[1].split(": ")[0]) >= spent
    assert Fraction(repr(Coreset.of(release)).split("epsilon=")[1].rstrip(")")) >= spent


def test_a_ledger_in_memory_is_not_a_durable_one():
    ledger = Ledger.memory(dataset="d", epsilon=1)
    certificate = KMeans(2, bounds=(0, 1), ledger=ledger, dataset="d").fit(ROWS).release_.certificate
    assert certificate.receipt is None
    assert "No durable ledger was kept" in certificate.statement
    assert ledger.datasets()["d"].remaining.epsilon == 0


def test_a_file_ledger_is(tmp_path):
    ledger = Ledger.create(tmp_path / "x.ledger", dataset="d", epsilon=1)
    certificate = KMeans(2, bounds=(0, 1), ledger=ledger, dataset="d").fit(ROWS).release_.certificate
    assert ledger.find(certificate.receipt) == 3
    assert len(bytes.fromhex(certificate.receipt)) == 32
    assert "No durable ledger" not in certificate.statement


def test_names_that_scikit_learn_refuses_are_refused_before_the_charge():
    ledger = Ledger.memory(dataset="d", epsilon=1)
    model = KMeans(2, bounds=(0, 1), ledger=ledger, dataset="d")
    with pytest.raises(DataError, match="names of columns"):
        model.fit(pd.DataFrame(ROWS, columns=[0, "a"]))
    assert ledger.datasets()["d"].spent.epsilon == 0
    model.fit(pd.DataFrame(ROWS, columns=[0, 1]))


def test_names_that_no_file_can_hold_are_refused_before_the_charge():
    for data, bounds in (
        (pd.DataFrame(ROWS, columns=["a", "\udcff"]), (0, 1)),
        (ROWS[:, :1], Box.of({"\udcff": (0, 1)})),
    ):
        ledger = Ledger.memory(dataset="d", epsilon=1)
        with pytest.raises(ParameterError, match="rename"):
            fit(data, k=2, epsilon=1, bounds=bounds, ledger=ledger, dataset="d")
        assert ledger.datasets()["d"].spent.epsilon == 0

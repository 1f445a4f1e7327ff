"""Warnings that teach: from the request or from what was released, never from rows, never in the way of a release."""

from __future__ import annotations

import warnings
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from covey import KMeans, Ledger, PrivacyWarning
from covey.errors import ParameterError
from covey.fit.fit import fit

ROWS = np.random.default_rng(0).uniform(0, 1, (300, 2))


def messages(act) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert all(each.filename == __file__ for each in caught)  # the caller's own line
    return [str(each.message) for each in caught if each.category is PrivacyWarning]


def ledger_of(folder):
    return Ledger.create(folder / "ledger", dataset="d", epsilon=100)


def test_a_usual_fit_on_a_ledger_warns_of_nothing(tmp_path):
    book = ledger_of(tmp_path)
    assert not messages(lambda: fit(ROWS, k=2, epsilon=1, bounds=(0, 1), ledger=book, dataset="d"))


def test_a_fit_without_a_ledger_is_warned_of_unless_it_is_a_test():
    assert messages(lambda: KMeans(2, bounds=(0, 1)).fit(ROWS))[0].startswith("ledger: none")
    assert not messages(lambda: KMeans(1, epsilon=5, bounds=(0, 1), random_state=0).fit(ROWS))


@pytest.mark.parametrize(("epsilon", "warned"), [(10, False), (10.5, True)])
def test_a_large_epsilon(epsilon, warned):
    found = messages(lambda: fit(ROWS, k=2, epsilon=epsilon, bounds=(0, 1)))
    assert [each.startswith("epsilon") for each in found] == [True] * warned


@pytest.mark.parametrize(("delta", "warned"), [(1e-5, False), (2e-5, True), (0.01, True)])
def test_a_large_delta(delta, warned):
    rows = np.random.default_rng(0).uniform(0, 1, (300, 10))
    found = messages(lambda: fit(rows, k=2, epsilon=1, delta=delta, bounds=(0, 1)))
    assert [each.startswith("delta") for each in found] == [True] * warned


@pytest.mark.parametrize("delta", [0.011, 0.5, Fraction(1, 99)])
def test_a_delta_that_protects_nobody_is_refused(delta):
    with pytest.raises(ParameterError, match=r"delta: must be at most 0\.01"):
        fit(ROWS, k=2, epsilon=1, delta=delta, bounds=(0, 1), random_state=0)


@pytest.mark.parametrize("name", ["user", "user_id", "driverId", "Patient No.", "uid", "userid", "CUSTOMERS"])
def test_a_column_that_names_people_is_pointed_out(name):
    frame = pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1], name: range(len(ROWS))})
    bounds = {"a": (0, 1), "b": (0, 1)}
    (found,) = messages(lambda: fit(frame, k=2, epsilon=1, bounds=bounds))
    assert found.startswith(f"person: column {name!r}")
    assert not messages(lambda: fit(frame, k=2, epsilon=1, bounds=bounds, person=name))


@pytest.mark.parametrize("name", ["valid", "humid", "id", "used", "clientele", "superuser"])
def test_other_columns_are_not(name):
    frame = pd.DataFrame({"a": ROWS[:, 0], name: ROWS[:, 1]})
    assert not messages(lambda: fit(frame, k=2, epsilon=1, bounds={"a": (0, 1)}))


def test_what_a_release_shows_about_itself_is_warned_of():
    outside = messages(lambda: KMeans(1, bounds=(2, 3), random_state=0, epsilon=5).fit(ROWS))
    assert any("at an end of the range of x0, x1" in each for each in outside)
    wide = messages(lambda: KMeans(1, bounds=(2, 3), random_state=0, epsilon=9).fit(np.zeros((2000, 12))))
    assert any("x6, x7 and 4 more, where" in each for each in wide)
    noise = messages(lambda: KMeans(2, epsilon=0.001, bounds=(0, 1), random_state=0).fit(ROWS))
    assert any("may be only noise" in each for each in noise)


def test_a_warning_made_an_error_stops_a_fit_before_the_charge_and_never_after_it(tmp_path):
    book = ledger_of(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        with pytest.raises(PrivacyWarning, match="epsilon"):
            KMeans(2, epsilon=20, bounds=(0, 1), ledger=book, dataset="d").fit(ROWS)
        assert book.datasets()["d"].remaining.epsilon == 100
        model = KMeans(2, epsilon=0.001, bounds=(0, 1), ledger=book, dataset="d").fit(ROWS)
    assert len(model.release_.centres) == 2


def test_whoever_shows_warnings_in_another_way_and_fails_at_it_stops_no_paid_release(monkeypatch):
    def fails(*_args, **_kwargs):
        raise RuntimeError

    model = KMeans(2, epsilon=0.001, bounds=(0, 1), random_state=0)
    with warnings.catch_warnings(), suppress(RuntimeError):
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", fails)
        model.fit(ROWS)
    assert hasattr(model, "n_features_in_")  # what comes last


def test_an_american_spelling_is_answered():
    with pytest.raises(TypeError, match="did you mean neighbours"):
        KMeans(2, neighbors="add-remove")

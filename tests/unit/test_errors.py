"""Every wrong request: the right class, a message that names the parameter, no charge, no row read."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from conftest import settings_of
from covey import (
    Ball,
    Box,
    BudgetError,
    CoveyError,
    DataError,
    FormatError,
    KMeans,
    Ledger,
    LedgerError,
    NotNumericError,
    ParameterError,
)
from covey.algorithms.registry import ALGORITHMS
from covey.private.engines.memory import MemoryEngine

ROWS = np.array([[0.5, 0.25], [-0.5, 0.75]])
FRAME = pd.DataFrame(ROWS, columns=["a", "b"])


def test_the_tree():
    assert all(
        issubclass(each, CoveyError) for each in (ParameterError, DataError, BudgetError, LedgerError, FormatError)
    )
    assert issubclass(ParameterError, ValueError)
    assert issubclass(DataError, ValueError)
    assert issubclass(FormatError, ValueError)
    assert issubclass(NotNumericError, DataError)
    assert issubclass(NotNumericError, TypeError)
    error = ParameterError("epsilon", "must be larger")
    assert (str(error), error.parameter) == ("epsilon: must be larger", "epsilon")


@pytest.fixture
def refused(monkeypatch):
    """Fit with a ledger and a door that must not be opened; returns the error."""

    def no_rows(_engine):
        raise AssertionError("rows were read")

    def attempt(data, **options):
        kind = {"neighbours": options["neighbours"]} if options.get("neighbours") == "replace-one" else {}
        ledger = Ledger.memory(dataset="d", epsilon=10**6, **kind)
        before = ledger.head
        monkeypatch.setattr(MemoryEngine, "_load", no_rows)
        parameters = {"n_clusters": 2, "bounds": (-1, 1), "ledger": ledger, "dataset": "d"} | options
        model = KMeans(**parameters)
        with pytest.raises(CoveyError) as refusal:
            model.fit(data)
        assert ledger.head == before, "charged"
        assert not hasattr(model, "release_")
        assert not hasattr(model, "cluster_centers_")
        return refusal.value

    return attempt


TABLE = [
    *[("bounds", {"bounds": value}) for value in (
        None, (1, -1), (0, 0), (math.nan, 1), (0, math.inf), "ab", 5, (0, 1, 2), ([0, 0, 0], 1), (0, 1j),
        {"a": (0, 1)}, Box((0, 1)), Box(a=(0, 1)), Ball(1, center=(0,)), (np.zeros((2, 2)), 1), [], ("x", "y"),
    )],
    *[("epsilon", {"epsilon": value}) for value in (
        0, -1, math.nan, math.inf, -math.inf, "1", None, True, [1], 1j, 1e-7, 1e5, np.nan, np.bool_(True), 10**400,
        Fraction(0), Fraction(-1, 2),
    )],
    *[("n_clusters", {"n_clusters": value}) for value in (0, -1, 2.5, 2.0, "2", None, True, math.nan, [2])],
    *[("delta", {"delta": value}) for value in (0, 1, -1, 2, math.nan, math.inf, "x", True, [0.1], -1e-9)],
    *[("algorithm", {"algorithm": value}) for value in ("LLOYD", "", None, 3, ["lloyd"], "dbscan")],
    *[("neighbours", {"neighbours": value}) for value in ("both", "", None, 3, "add/remove")],
    *[("algorithm_params", {"algorithm_params": value}) for value in ({"no": 1}, "rounds", 3, [("rounds", 2)], {1: 2})],
    *[("engine", {"engine": value}) for value in ("spark", "", None, 3)],
    *[("person", {"person": value}) for value in ("id", "", 3)],
    *[("rows_per_person", {"rows_per_person": value}) for value in (2, 0, 1.5, True)],
    ("zones", {"zones": [Box((0, 1))]}),
    ("zones", {"zones": ()}),
    *[("sample", {"sample": value}) for value in (0.0, 1.5, -1, math.nan, False, "half", "auto:2", [0.5], 1j)],
    *[("dataset", {"dataset": value}) for value in (None, "", 3)],
    *[("random_state", {"random_state": value}) for value in ("x", -1, 1.5, True)],
    *[("ledger", {"ledger": value}) for value in (3, 2.5, [])],
]  # fmt: skip


@pytest.mark.parametrize(("parameter", "options"), TABLE, ids=lambda x: str(x)[:40])
def test_a_wrong_parameter_is_named(refused, parameter, options):
    error = refused(ROWS, **options)
    assert isinstance(error, ParameterError)
    assert parameter in error.parameter
    assert str(error).startswith(error.parameter)


OWN = [
    ("lloyd", "rounds", [0, -1, 1.5, True, "5", None, math.nan]),
    ("lloyd", "start", ["x", None, ["uniform"], 3]),
    ("grid", "theta", [0, -1, math.nan, math.inf, "x", True, 1e-320, 1e300, 1j, None]),
    ("grid", "starts", [0, 1.5, True, None]),
    ("grid", "keep_synopsis", [1, "yes", None]),
    ("hybrid", "theta", [0, math.nan, 1e-320]),
    ("hybrid", "rho", [0, -1, math.inf, 1e300]),
    ("blocks", "rule", ["x", None, ["gkm"]]),
    ("blocks", "rounds", [-1, 1.5]),
    ("genetic", "candidates", [1, 2.5]),
    ("genetic", "parents", [0, "x"]),
    ("genetic", "rate", [0, math.inf]),
]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    ("algorithm", "name", "value"), [(a, name, value) for a, name, values in OWN for value in values], ids=str
)
def test_a_wrong_parameter_of_an_algorithm_costs_nothing(algorithm, name, value, neighbours):
    ledger = Ledger.memory(dataset="d", epsilon=1, neighbours=neighbours)
    before = ledger.head
    model = KMeans(
        2,
        bounds=(-1, 1),
        algorithm=algorithm,
        algorithm_params={name: value},
        neighbours=neighbours,
        ledger=ledger,
        dataset="d",
    )
    with pytest.raises(ParameterError) as refusal:
        model.fit(ROWS)
    assert refusal.value.parameter == name
    assert ledger.head == before


@pytest.mark.parametrize("row", ALGORITHMS.values(), ids=list(ALGORITHMS))
def test_an_unknown_parameter_of_an_algorithm_lists_the_known_ones(refused, row):
    error = refused(ROWS, algorithm=row.name, algorithm_params={"sofa": 1})
    assert "'sofa'" in str(error)
    assert all(repr(name) in str(error) for name in row.parameters)


@pytest.mark.parametrize(
    ("data", "kind", "word"),
    [
        ([1.0, 2.0], DataError, "2D array"),
        (np.empty((3, 0)), DataError, "feature"),
        ([[1.0], [1.0, 2.0]], DataError, "lengths"),
        (None, DataError, "2D"),
        ("absent.csv", DataError, "no file"),
        (".", DataError, "must end in"),
        (np.array([["x", "y"]]), NotNumericError, "not numeric"),
        (pd.DataFrame({"a": [1.0], "b": ["x"]}), NotNumericError, "'b' is not numeric"),
        (pd.DataFrame(ROWS, columns=["a", "a"]), DataError, "more than one column 'a'"),
        (np.array([[1 + 1j, 2.0]]), NotNumericError, "Complex"),
    ],
)
def test_wrong_data_is_named(refused, data, kind, word):
    error = refused(data)
    assert type(error) is kind
    assert word in str(error)


def test_a_missing_column_lists_those_there_are(refused):
    error = refused(FRAME, bounds=Box(a=(0, 1), z=(0, 1)))
    assert isinstance(error, DataError)
    assert "'z'" in str(error)
    assert "'a', 'b'" in str(error)


def test_a_ledger_must_know_the_data_set(refused):
    assert isinstance(refused(ROWS, dataset="another"), LedgerError)


def test_a_file_ledger_needs_the_name_of_the_data_set(tmp_path, refused):
    path = tmp_path / "x.ledger"
    Ledger.create(path, dataset="d", epsilon=1)
    assert refused(ROWS, ledger=str(path), dataset=None).parameter == "dataset"
    assert isinstance(refused(ROWS, ledger=str(tmp_path / "absent.ledger")), LedgerError)
    (tmp_path / "other").write_bytes(b"not a ledger")
    assert isinstance(refused(ROWS, ledger=tmp_path / "other"), LedgerError)


def test_a_spent_ledger_opens_nothing(monkeypatch, watched):
    table = watched(ROWS, broken=True)
    monkeypatch.setattr("covey.private.opening.open_table", lambda _: table)
    for algorithm, row in ALGORITHMS.items():
        for neighbours in map(str, row.neighbours):
            half = Fraction(1, 2)
            ledger = Ledger.memory(dataset="d", epsilon=half, delta=half, neighbours=neighbours)
            model = KMeans(
                2,
                bounds=(-1, 1),
                neighbours=neighbours,
                ledger=ledger,
                dataset="d",
                epsilon=0.6,
                **settings_of(algorithm, k=2, edge=0.5),
            )
            with pytest.raises(BudgetError, match="d"):
                model.fit(ROWS)
            assert ledger.datasets()["d"].spent.epsilon == 0
    assert table.read == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_charge_is_committed_before_the_rows_are_read(monkeypatch, watched, algorithm, neighbours):
    """Rows that cannot be read: the fit fails, the charge stays."""
    ledger = Ledger.memory(dataset="d", epsilon=2, delta=Fraction(1, 2), neighbours=neighbours)
    table = watched(ROWS, broken=True)
    monkeypatch.setattr("covey.private.opening.open_table", lambda _: table)
    own = settings_of(algorithm, k=2, edge=0.5, neighbours=neighbours)
    model = KMeans(2, bounds=(-1, 1), neighbours=neighbours, ledger=ledger, dataset="d", **own)
    with pytest.raises(AssertionError, match="rows were read"):
        model.fit(ROWS)
    assert ledger.datasets()["d"].spent.epsilon == 1
    assert ledger.verify().unfinished == 1
    assert not hasattr(model, "release_")


@pytest.mark.parametrize("error", [ParameterError("k", "x"), DataError("x"), BudgetError("x"), LedgerError("x")])
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)

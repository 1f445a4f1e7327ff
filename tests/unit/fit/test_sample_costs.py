"""What a sample costs, when it is read, and what is told of it."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import covey.fit.cap
import covey.fit.fit
import covey.fit.sample
from conftest import settings_of
from covey import KMeans, Ledger
from covey.algorithms.registry import ALGORITHMS
from covey.budget.accounting.amplify import amplified, inner_cost
from covey.errors import DataError
from covey.events import exactly
from covey.fit.fit import fit
from covey.noise.source import SeededSource
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.files import FileTable
from covey.private.tables.frames import ArrayTable, FrameTable
from covey.public import Neighbours

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_a_bound_for_a_sample_does_not_pass_for_one_for_all_rows(relation):
    """At a rate of 5% the stated bound was 1,435, and the cost off by 1,543: it was for the sample's own cost."""
    rows = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    shared = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "net-coreset", "neighbours": str(relation)}
    whole, part = (fit(rows, **shared, sample=each, random_state=1).certificate.parameters for each in (None, 0.1))
    assert "k-means_error" in whole
    assert not [name for name in part if name.endswith(("_error", "_error_one_query"))]
    assert "k-means_error_of_sample" in part
    assert part["error"] == whole["error"]  # a parameter, not a bound


ROWS = np.random.default_rng(3).normal(0, 0.4, (1_500, 2))


@pytest.mark.parametrize("epsilon", [1.0, 0.3, 1 / 3, 7.1])
@pytest.mark.parametrize("sample", [700, "auto:0.5", 1])
def test_the_noisy_number_and_the_sample_together_cost_at_most_epsilon(monkeypatch, epsilon, sample):
    budgets, real = [], Curator.__init__

    def noted(self, *given, reserve, **more):
        budgets.append(reserve.promise.cost)
        real(self, *given, reserve=reserve, **more)

    monkeypatch.setattr(Curator, "__init__", noted)
    given = {"epsilon": epsilon, "sample": sample, "algorithm": "lloyd", "random_state": 4}
    model = KMeans(3, bounds=(-1, 1), **given).fit(ROWS)
    note = model.release_.certificate.parameters["sample"]
    rehearsed, counted, inner = budgets
    assert rehearsed.epsilon + counted.epsilon == exactly(epsilon)
    rate = max(Fraction(1, 2**40), Fraction(min(note["rows_noisy"], 1 if sample == 1 else 10**9), note["rows_noisy"]))
    if sample == 1:
        assert inner == inner_cost(rehearsed, rate=rate)
    assert amplified(inner, rate=min(exactly(note["rate"]), Fraction(1))).epsilon <= rehearsed.epsilon + Fraction(
        2, 10**9
    )
    assert exactly(note["inner_epsilon"]) >= inner.epsilon  # a group's promise is computed from these numbers
    assert exactly(note["inner_delta"]) >= inner.delta
    assert exactly(note["epsilon_of_rows"]) >= counted.epsilon


def test_the_numbers_a_groups_promise_is_computed_from_are_not_rounded_down():
    model = KMeans(3, epsilon=1.0, delta=1e-6, bounds=(-1, 1), sample=7, random_state=1)
    model = model.set_params(algorithm="ball-coreset", algorithm_params={"too_few": "run"}).fit(ROWS)
    note = model.release_.certificate.parameters["sample"]
    rate = Fraction(7, note["rows_noisy"])
    assert exactly(note["rate"]) >= rate
    assert exactly(note["inner_delta"]) >= min(Fraction(1, 10**6) / rate, Fraction(1, 100))


@pytest.mark.parametrize("kind", ["numpy", "pandas", "csv", "parquet"])
@pytest.mark.parametrize("sample", [0.2, 300, "auto"])
def test_nothing_is_counted_or_read_before_the_charge(monkeypatch, tmp_path, kind, sample):
    frame = pd.DataFrame(ROWS, columns=["a", "b"])
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    data = {"numpy": ROWS, "pandas": frame, "csv": tmp_path / "x.csv", "parquet": tmp_path / "x.parquet"}[kind]
    happened = []

    def watch(owner, name):
        was = getattr(owner, name)

        def watched(self, *args, **options):
            happened.append(name)
            return was(self, *args, **options)

        monkeypatch.setattr(owner, name, watched)

    for table in (ArrayTable, FrameTable, FileTable):
        for name in ("rows", "pieces", "chosen"):
            watch(table, name)
    watch(Ledger, "charge")
    KMeans(3, bounds=(-1, 1), sample=sample, random_state=4).fit(data)
    assert happened[0] == "charge"
    assert happened.count("charge") == 1
    assert happened.count("pieces") + happened.count("chosen") == 1
    happened.clear()
    book = Ledger.memory(dataset="d", epsilon=Fraction(1, 2))
    with pytest.raises(covey.BudgetError):
        KMeans(3, bounds=(-1, 1), sample=sample, ledger=book, dataset="d").fit(data)
    assert happened == []  # refused before anything, the charge included


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_how_many_rows_were_drawn_is_never_told(monkeypatch, algorithm):
    own = settings_of(algorithm)
    met = []
    load = MemoryEngine._load

    def watched(self):
        blocks = load(self)
        if not met:
            met.append(sum(len(block.outside) for block in blocks))
        return blocks

    monkeypatch.setattr(MemoryEngine, "_load", watched)
    for seed in range(12):  # a noisy number may hit the exact one by chance, but not always
        met.clear()
        release = KMeans(3, bounds=(-1, 1), sample=0.7, random_state=seed, **own).fit(ROWS).release_
        assert 0 < met[0] < len(ROWS)
        exact = (met[0], len(ROWS), met[0] / 0.7)
        found = [x for x in exact if re.search(rf"(?<![0-9a-f.]){re.escape(f'{x:.15g}')}(?![0-9a-f])", str(release))]
        text = release.to_json().decode()
        found += [x for x in exact if re.search(rf"(?<![0-9a-f.]){re.escape(f'{x:.15g}')}(?![0-9a-f])", text)]
        if not found:
            break
    assert found == []


def test_a_sample_is_drawn_once_even_if_reading_it_failed():
    class Torn(ArrayTable):
        def chosen(self, columns, places):
            raise DataError(f"data: broke off after {len(next(places))} places of {columns or 'all'} columns")

    sampled = SampledTable.poisson(Torn(ROWS), rate=Fraction(1, 2), source=SeededSource(0))
    with pytest.raises(DataError):
        list(sampled.pieces(None))
    with pytest.raises(covey.BudgetError, match="paid"):
        sampled.pieces(None)


def test_a_retry_with_the_same_key_pays_again_for_its_second_sample(monkeypatch):
    book = Ledger.memory(dataset="d", epsilon=2).with_key("monday")
    chosen = ArrayTable.chosen
    monkeypatch.setattr(ArrayTable, "chosen", lambda *_: (_ for _ in ()).throw(DataError("data: broke off")))
    with pytest.raises(DataError):
        KMeans(2, bounds=(-1, 1), sample=200, ledger=book, dataset="d").fit(ROWS)
    monkeypatch.setattr(ArrayTable, "chosen", chosen)
    KMeans(2, bounds=(-1, 1), sample=200, ledger=book, dataset="d").fit(ROWS)
    assert book.datasets()["d"].spent.epsilon == 2

"""Attacks on samples, group promises, swaps and the look of `auto`: each test is a way in that must stay shut."""

from __future__ import annotations

import csv
import decimal
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import covey.fit.fit
import covey.fit.people
import covey.fit.sample
from conftest import make_curator, settings_of
from covey import Ball, Box, KMeans, Ledger, ParameterError
from covey.algorithms.auto.low import from_boxes
from covey.algorithms.registry import ALGORITHMS
from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amplify import amplified, inner_cost
from covey.errors import DataError
from covey.events import exactly
from covey.noise import gaps
from covey.noise.mechanisms import DiscreteLaplace
from covey.noise.source import SeededSource
from covey.post.random import public_rng
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.narrowed.thin import SampledTable
from covey.private.tables.files import FileTable, open_file
from covey.private.tables.frames import ArrayTable, FrameTable
from covey.public import Neighbours
from covey.queries.swaps import SwapGains
from covey.theory.group import group_privacy

ROWS = np.random.default_rng(3).normal(0, 0.4, (1_500, 2))


# --- group promises ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampled", [{"rate": "0.99999999999999"}, {"sample": 10**15 - 10**5, "n": 10**15}, {"sample": 999, "n": 1_000}]
)
def test_chances_too_small_to_write_do_not_make_a_group_invisible(sampled):
    """The chance of no member underflowed to 0, and all others with it: the promise was (0, 0) for everybody."""
    group = min(100_000, sampled.get("n", 10**9))
    found = group_privacy(0.5, group=group, **sampled)
    assert found.curve[0].delta > 0.99
    assert abs(sum(found._chances) - 1) < Decimal("1e-30")


@pytest.mark.parametrize("n", [10, 23])
def test_all_chances_of_a_fixed_sample(n):
    for sample in range(1, n + 1):
        for group in range(1, n + 1):
            chances = group_privacy(1, group=group, sample=sample, n=n)._chances
            for j, chance in enumerate(chances):
                wanted = Fraction(math.comb(group, j) * math.comb(n - group, max(0, sample - j)), math.comb(n, sample))
                wanted = wanted if j <= sample else Fraction(0)
                assert abs(Fraction(chance) - wanted) <= wanted / 10**60


def test_a_fixed_sample_of_nearly_everybody_is_quick():
    found = group_privacy(1, group=3, sample=10**15 - 1, n=10**15)  # went through the 10^15 others, one by one
    assert found.curve[1].delta == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("own", [{"epsilon": "1e-40", "rate": "1e-40"}, {"epsilon": 1, "rate": "1e-90"}])
def test_amounts_too_small_for_the_digits_are_refused(own):
    with pytest.raises(ParameterError):  # was a promise of epsilon 0 and delta 0
        group_privacy(group=3, **own)


def test_a_tiny_promise_is_never_none_at_all():
    found = group_privacy("1e-9", group=2, rate="1e-15", delta="1e-30")
    assert 2e-24 <= found.amplified.epsilon < 2.1e-24
    assert 2e-45 <= found.amplified.delta < 2.1e-45


def test_numbers_too_large_to_write_are_no_error():
    found = group_privacy(100, group=20_000, rate=0.5, delta=1e-6)
    assert found.naive.delta == 1
    assert found.delta_at(1e300) <= 1
    assert group_privacy(0.5, group=10, rate=0.5).delta_at(1e300) == 0


# --- arithmetic that must not depend on the caller --------------------------------------------------------------------


def test_the_callers_decimal_context_changes_nothing():
    """`amplified`, the gaps' float path and a statement's factor took the caller's precision: wrong with few digits."""
    rate, release = Fraction(1, 7), KMeans(2, epsilon=0.2, bounds=(-1, 1)).fit(ROWS).release_
    cost, group = Cost(Fraction(3), Fraction(1, 10**6)), {"group": 50, "rate": 0.1, "delta": 1e-9}
    asked = [
        lambda: amplified(cost, rate=rate),
        lambda: inner_cost(cost, rate=rate),
        lambda: gaps._slope.__wrapped__(rate),
        lambda: gaps.gaps(500, rate=rate, source=SeededSource(1)).tolist(),
        lambda: group_privacy(2, **group),
        lambda: group_privacy(2, **group).delta_at(1.0),
        lambda: release.certificate.statement,  # "at most" 1.22 for e^0.2 = 1.2214
    ]
    usual = [ask() for ask in asked]
    with localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_FLOOR, Emax=9, Emin=-9)):
        gaps._slope.cache_clear()
        assert [ask() for ask in asked] == usual
    gaps._slope.cache_clear()


def test_amplified_is_rounded_up_and_the_inner_cost_down():
    rng = np.random.default_rng(7)
    with localcontext(decimal.Context(prec=300)):

        def true(epsilon: Fraction, rate: Fraction) -> Decimal:
            strength, share = (Decimal(x.numerator) / Decimal(x.denominator) for x in (epsilon, rate))
            return (1 + share * (strength.exp() - 1)).ln()

        for _ in range(60):
            rate = Fraction(int(rng.integers(1, 2**40)), 2 ** int(rng.integers(40, 80)))
            rate = min(max(rate, Fraction(1, 2**40)), Fraction(2**40 - 1, 2**40))
            whole = Cost(exactly(float(10 ** rng.uniform(-6, 3.9))), exactly(float(10 ** rng.uniform(-12, -0.01))))
            inner = inner_cost(whole, rate=rate)
            goal = Decimal(whole.epsilon.numerator) / Decimal(whole.epsilon.denominator)
            assert true(inner.epsilon, rate) <= goal
            assert inner.delta * rate <= whole.delta < 1
            assert inner.delta <= max(Fraction(1, 100), whole.delta)
            up = amplified(Cost(inner.epsilon), rate=rate).epsilon
            assert Decimal(up.numerator) / Decimal(up.denominator) >= true(inner.epsilon, rate)


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(2, 3), Fraction(999, 1000), Fraction(1, 2**40)], ids=float)
def test_floats_are_sure_of_a_gap_only_where_it_is_right(rate):
    """Words around every boundary (1 - rate)^g·2^64, where a wrong slope or a small margin would show."""
    words, bounds = [], [Fraction(1)]
    for _ in range(400):
        bounds.append(bounds[-1] * (1 - rate))
    for bound in bounds[1:]:
        near = int(bound * 2**64)
        words += [w for w in (near - 2**14, near - 3, near - 1, near, near + 1, near + 3, near + 2**14) if w < 2**64]
    words = np.array([w for w in words if w > 0], dtype=np.uint64)
    found, sure = gaps._by_floats(words, rate=rate)
    for word, gap in zip(words[sure].tolist(), found[sure].tolist(), strict=True):
        if gap + 1 < len(bounds):
            assert bounds[gap + 1] * 2**64 < word + 1
            assert word < bounds[gap] * 2**64
            assert bounds[gap + 1] * 2**64 <= word
            assert word + 1 <= math.ceil(bounds[gap] * 2**64)


# --- what a sample costs, when it is read, and what is told of it -----------------------------------------------------


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
            met.append(sum(block.shape[1] for block in blocks))
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


def test_every_record_is_one_row_whatever_it_holds(tmp_path):
    """Under replace-one the number of rows is read before the charge: no value may change it."""
    rng, path = np.random.default_rng(1), tmp_path / "x.csv"
    parts = ["1", "2.5", ",", ",", '"', '"', " ", "\r", "\n", "\r\n", "\0", "\t", "a", "\xff", "\\", "\u2028", "\x0b"]
    for _ in range(150):
        width, many = int(rng.integers(1, 4)), int(rng.integers(0, 8))
        records = [["".join(rng.choice(parts, rng.integers(0, 9))) for _ in range(width)] for _ in range(many)]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([[f"c{i}" for i in range(width)], *records])
        table = open_file(path)
        assert table.rows() == many == sum(piece().shape[1] for piece in table.pieces(None))


def test_a_file_that_is_damaged_when_it_is_counted_says_so_in_our_words(tmp_path):
    pd.DataFrame(ROWS, columns=["a", "b"]).to_parquet(tmp_path / "x.parquet")
    table = open_file(tmp_path / "x.parquet")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match="changed while it was read"):  # was pyarrow's own error
        table.rows()


# --- swaps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("ball", [False, True])
def test_no_row_changes_a_swap_by_more_than_is_claimed(objective, ball):
    """Exact integers against the claim, for rows at corners, on candidates, and between; near and far candidates."""
    rng, closest, relative = np.random.default_rng(5), 0.0, 0
    for _ in range(60):
        d = int(rng.integers(1, 4))
        domain = (Ball(1.0) if ball else Box(*[(-1, 1)] * d)).domain(None, d)
        m = int(rng.integers(2, 9))
        k = int(rng.integers(1, m))
        spread = rng.choice([1.0, 0.3, 1e-3, 1e-6])
        places = np.clip(rng.uniform(-1, 1, d) * rng.integers(2) + spread * rng.uniform(-1, 1, (m, d)), -1, 1)
        query = SwapGains(places * domain.limit, rng.permutation(m)[:k], domain, objective=objective)
        inside = rng.uniform(-1, 1, (d, 30))
        rows = np.concatenate([inside, np.sign(inside), places[rng.integers(0, m, 30)].T + 1e-6 * inside], axis=1)
        rows = np.clip(rows, -1, 1)
        if ball:
            rows /= np.maximum(np.sqrt(np.square(rows).sum(axis=0)), 1)
        rows = np.trunc(rows * domain.limit).astype(np.int32)
        low, high = (query.most if query.relative else 0), (0 if query.relative else -query.most)
        for row in rows.T:
            out = np.zeros(query.size, dtype=np.int64)
            query.accumulate(row[:, None], out)
            squared = [sum((int(x) - int(c)) ** 2 for x, c in zip(row, each, strict=True)) for each in query.candidates]
            costs = [(s if objective == "k-means" else math.isqrt(s)) >> query.shift for s in squared]
            now = min(costs[i] for i in query.current)
            after = [min(costs[i] for i in query.after(swap)) for swap in range(query.size)]
            assert out.tolist() == [query.offset + now - c if query.relative else -c for c in after]
            low, high = min(low, out.min()), max(high, out.max())
        assert (0 <= low <= high <= query.most) if query.relative else (-query.most <= low <= high <= 0)
        relative += query.relative
        closest = max(closest, (high - low) / query.most)
        sensitivity = query.sensitivity(Neighbours.ADD_REMOVE)
        assert (sensitivity.linf, sensitivity.monotone) == (query.most, True)
        assert not query.sensitivity(Neighbours.REPLACE_ONE).monotone
    assert relative > 10
    assert closest > 0.9  # the claim is nearly reached, so a smaller one would be wrong


# --- the look of auto -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("d", "n"), [(2, 900), (3, 1_500), (2, 40), (4, 900)])
def test_a_look_and_what_follows_it_cost_exactly_epsilon(neighbours, d, n):
    seen = set()
    for spread in (1.0, 0.01):
        rows = np.random.default_rng(2).uniform(-spread, spread, (n, d))
        curator = make_curator(rows, neighbours=neighbours, epsilon=Fraction(1), seed=3)
        outcome = from_boxes(
            curator, k=8, epsilon=Fraction(1), objective="k-means", public_rng=public_rng(0), keep_synopsis=False
        )
        assert curator._reserve.opened == Cost(Fraction(1))
        assert curator._reserve.remaining == ()
        seen.add(outcome.notes["synopsis"])
    assert seen <= {"grid", "tree"}
    assert n != 900 or d != 2 or seen == {"grid", "tree"}


def test_what_decides_between_grid_and_tree_is_released(monkeypatch):
    """The same released numbers, the same choices and plans, whatever the rows."""
    released = {}

    def add(self, exact, sensitivity, source):
        return released.setdefault((self.epsilon, len(exact)), np.full(len(exact), 900 // len(exact), dtype=np.int64))

    monkeypatch.setattr(DiscreteLaplace, "add", add)
    told = []
    for rows in (np.zeros((900, 2)), np.random.default_rng(0).uniform(-1, 1, (5, 2))):
        curator = make_curator(rows, epsilon=Fraction(1), seed=3)
        outcome = from_boxes(
            curator, k=8, epsilon=Fraction(1), objective="k-means", public_rng=public_rng(0), keep_synopsis=False
        )
        told.append((outcome.notes, outcome.centres.tolist()))
    assert told[0] == told[1]
    assert told[0][0]["synopsis"] == "grid"

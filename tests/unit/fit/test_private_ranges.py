"""Bounds that are "private": ranges within epsilon, two charges, and all passes on the same rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covey import BudgetError, DataError, KMeans, Ledger, PrivateCoreset
from covey.cli.ledger import compare
from covey.cli.main import main
from covey.errors import FormatError, LedgerError, ParameterError
from covey.fit import ranges
from covey.fit.fit import fit
from covey.fit.rehearse import epsilon_of
from covey.post.ranges import MOST_SHARE, USUAL_SHARE

BOUNDS = {"age": (0, 120), "income": "private", "lon": "private:0.1"}


def people(n: int = 20_000, *, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {"age": rng.normal(45, 12, n), "income": rng.lognormal(10.5, 0.6, n), "lon": rng.normal(-73.95, 0.05, n)}
    return pd.DataFrame({**columns, "who": np.arange(n) // 4})


def ask(data, **asked):
    return fit(data, **{"k": 3, "epsilon": 1.0, "bounds": BOUNDS, "errors": "none", **asked})


@pytest.fixture
def book(tmp_path):
    return Ledger.create(tmp_path / "x.ledger", dataset="people", epsilon=1)


def charges(book: Ledger) -> list[float]:
    return [entry.epsilon / 1e9 for entry in book.entries() if entry.kind == "charge"]


@pytest.fixture(scope="module")
def release():
    return ask(people(), random_state=5, epsilon=4.0)


def test_ranges_are_about_those_of_the_rows(release):
    found = release.certificate.parameters["bounds"]["ranges"]
    assert list(found) == ["income", "lon"]
    for name, (low, high) in found.items():
        first, last = people()[name].quantile([0.01, 0.99])
        assert (last - first) / 2 < high - low < 2 * (last - first)
        assert ((people()[name] < low) | (people()[name] > high)).mean() < 0.02


def test_the_certificate_promises_the_sum_and_names_the_part(release):
    certificate = release.certificate
    assert certificate.epsilon == 4.0
    assert certificate.parameters["bounds"]["epsilon"] == pytest.approx(0.9)
    assert "the range of 'income', 'lon' was found privately" in certificate.statement.lower()
    assert certificate.domain["lower"][0] == 0
    assert epsilon_of(certificate) == pytest.approx(3.1)  # what a rerun has, on which nothing is spent on ranges


def test_two_charges_and_each_release_under_its_own_receipt(book):
    made = ask(people(40_000), ledger=book.with_key("monday"), dataset="people")
    assert charges(book) == [0.225, 0.775]  # all there is: both together were affordable
    receipts = [made.certificate.parameters["bounds"]["receipt"], made.certificate.receipt]
    first, second = (book.find(each) for each in receipts)
    assert first < second
    document = json.loads(book.document(first))
    assert document["ranges"] == made.certificate.parameters["bounds"]["ranges"]
    assert document["certificate"]["epsilon"] == 0.225
    assert document["certificate"]["receipt"] == receipts[0]
    assert book.document(second) == made.to_json()
    assert ask(people(40_000), ledger=book.with_key("monday"), dataset="people") == made
    assert charges(book) == [0.225, 0.775]


def test_both_must_be_affordable_before_anything_is_charged(book):
    with pytest.raises(BudgetError):
        ask(people(40_000), epsilon=1.05, ledger=book, dataset="people")
    assert charges(book) == []


def test_a_crash_between_the_charges_keeps_the_first_and_finds_it_again(tmp_path, monkeypatch):
    book = Ledger.create(tmp_path / "x.ledger", dataset="people", epsilon=3)
    keyed = {"ledger": book.with_key("monday"), "dataset": "people"}
    settle = ranges.Look.settle

    def crash(self, *given, **named):
        settle(self, *given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ranges.Look, "settle", crash)
        with pytest.raises(KeyboardInterrupt):
            ask(people(40_000), **keyed)
    assert charges(book) == [0.225]
    [first] = [entry.sequence for entry in book.entries() if entry.kind == "charge"]
    made = ask(people(40_000), **keyed)
    assert charges(book) == [0.225, 0.775]
    assert made.certificate.parameters["bounds"]["ranges"] == json.loads(book.document(first))["ranges"]


def test_a_key_stands_for_the_shares_too(book):
    keyed = {"ledger": book.with_key("monday"), "dataset": "people"}
    ask(people(40_000), epsilon=0.5, **keyed)
    others = [{**BOUNDS, "income": "private:0.06"}, {**BOUNDS, "income": (-1, 1)}, {**BOUNDS, "age": "private"}]
    for other in others:
        with pytest.raises(LedgerError, match="key"):
            ask(people(500), epsilon=0.5, bounds=other, **keyed)


def test_a_release_is_verified_with_both_of_its_charges(book, tmp_path):
    path = tmp_path / "release.json"
    path.write_bytes(ask(people(40_000), ledger=book, dataset="people").to_json())
    [first, second] = [entry.sequence for entry in book.entries() if entry.kind == "charge"]
    assert f"entry {second}, and entry {first} for its private bounds, paid for" in compare(book, str(path))
    changed = json.loads(path.read_bytes())
    changed["certificate"]["parameters"]["bounds"]["receipt"] = "0" * 64
    path.write_text(json.dumps(changed))
    with pytest.raises(FormatError, match="is not in this ledger"):
        compare(book, str(path))


def test_no_range_is_an_answer_that_is_charged_and_stored():
    book = Ledger.memory(dataset="people", epsilon=1)
    keyed = {"ledger": book.with_key("monday"), "dataset": "people", "random_state": 1}
    for _ in range(2):
        with pytest.raises(DataError, match="no range of 'income' is supported"):
            ask(people(20), epsilon=0.1, **keyed)
        assert charges(book) == [0.0225]  # the second time it is found again
    [entry] = [entry.sequence for entry in book.entries() if entry.kind == "charge"]
    assert json.loads(book.document(entry))["ranges"] == {"income": None, "lon": None}


@pytest.mark.parametrize("engine", ["memory", "files"])
@pytest.mark.parametrize(
    ("left_out", "asked"), [({"b": np.nan}, {"missing": "drop"}), ({"who": None}, {"person": "who"})], ids=str
)
def test_chunks_of_which_no_row_counts_are_no_error(tmp_path, engine, left_out, asked):
    """Whether a part of the table is empty is the rows' own business."""
    who = np.arange(300).astype(str).astype(object)
    table = pd.DataFrame({"a": np.full(300, 0.5), "b": np.full(300, 0.5), "who": who})
    table.loc[:298, list(left_out)] = list(left_out.values())
    table.to_parquet(tmp_path / "t.parquet", row_group_size=20)
    data = table if engine == "memory" else tmp_path / "t.parquet"
    for rows in (data, table.iloc[:1] if engine == "memory" else data):
        with pytest.raises(DataError, match="no range of 'a' is supported"):
            fit(rows, k=2, epsilon=1.0, bounds={"a": "private", "b": (-1, 1)}, engine=engine, random_state=1, **asked)


def test_ranges_that_have_no_fit_together_are_told_with_their_charge():
    book = Ledger.memory(dataset="people", epsilon=20)
    rows = pd.DataFrame({"lon": np.random.default_rng(1).normal(0, 0.001, 5_000), "lat": np.zeros(5_000)})
    asked = {"bounds": {"lon": "private", "lat": (-1, 1)}, "scale": {"lon": 0.0001}}
    with pytest.raises(DataError, match=r"the ranges that were found are \{'lon': .* were charged.*give public"):
        fit(rows, k=2, epsilon=10.0, ledger=book, dataset="people", **asked)
    assert charges(book) == [1.25]


def test_ranges_that_cannot_be_stored_are_told(book, monkeypatch):
    monkeypatch.setattr(Ledger, "finish", lambda *_: (_ for _ in ()).throw(LedgerError("disk full")))
    with pytest.raises(LedgerError, match=r"disk full; the ranges that were found are \{'income': \("):
        ask(people(40_000), ledger=book, dataset="people")
    assert charges(book) == [0.225]


def test_ranges_whose_charge_is_gone_are_not_told(book, monkeypatch):
    """A ledger that was put back to an earlier copy has paid for nothing."""
    monkeypatch.setattr(Ledger, "finish", lambda *_: (_ for _ in ()).throw(LedgerError("put back")))
    monkeypatch.setattr(Ledger, "find", lambda *_: None)
    with pytest.raises(LedgerError, match="put back") as error:
        ask(people(40_000), ledger=book, dataset="people")
    assert "ranges" not in str(error.value)


def test_people_with_a_cap_and_a_sample_see_the_same_rows_in_every_pass(monkeypatch):
    """What the three doors hold: the bits, the rows within the magnitudes, and the rows of the fit."""
    held = []
    door = ranges.Session.door

    def watched(self, table, *given, **named):
        held.append(np.concatenate([piece() for piece in table.pieces(("age", "income", "lon"))], axis=1))
        return door(self, table, *given, **named)

    monkeypatch.setattr(ranges.Session, "door", watched)
    made = ask(people(8000), epsilon=4.0, person="who", rows_per_person=2, sample=0.5, random_state=1)
    assert len(held) == 3
    assert 1500 < held[0].shape[1] < 2500
    assert all(np.array_equal(each, held[0]) for each in held)
    assert made.certificate.parameters["people"]["rows_per_person"] == 2


@pytest.mark.parametrize("narrowed", [{}, {"person": "who", "rows_per_person": 3}, {"sample": 0.3}])
def test_what_is_spent_adds_up_to_what_was_promised(monkeypatch, narrowed):
    """In terms of the rows that are met: the look and the rest are all of what cap and sample leave, and the look
    alone is within its charge."""
    seen = []
    settle = ranges.Look.settle

    def noted(self, table, reserve, **named):
        found = settle(self, table, reserve, **named)
        seen.append((self._in_terms_of_rows(), reserve, found[1], self.session.reserve.promise))
        return found

    monkeypatch.setattr(ranges.Look, "settle", noted)
    ask(people(), random_state=1, epsilon=4.0, **narrowed)
    [(inner, whole, rest, paid)] = seen
    assert inner + rest.promise.epsilon == whole.promise.epsilon
    assert whole.left.epsilon == 0
    meant = whole.promise.with_cost(ranges.Cost(inner))
    if "sample" in narrowed:
        meant = meant.on_sample(ranges.exactly(0.3))
    if "person" in narrowed:
        meant = meant.for_people("who", cap=3)
    assert meant.within(paid)
    assert float(meant.epsilon) == pytest.approx(0.9, rel=1e-6)


def test_engines_agree_to_the_bit(tmp_path):
    data = people(3000)
    data.loc[::50, "income"] = np.nan
    data.to_parquet(tmp_path / "people.parquet", row_group_size=700)
    for more in ({}, {"person": "who", "rows_per_person": 2}, {"neighbours": "replace-one"}):
        memory = ask(data, random_state=1, epsilon=9.0, **more)
        streamed = ask(tmp_path / "people.parquet", random_state=1, epsilon=9.0, engine="files", **more)
        assert streamed.to_json() == memory.to_json()
        shuffled = ask(data.sample(frac=1, random_state=2), random_state=1, epsilon=9.0, **more)
        assert shuffled.to_json() == memory.to_json()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"zones": [(0, 0)]}, "zones: need public bounds"),
        ({"person": "who", "rows_per_person": "auto"}, "rows_per_person: must be a number"),
        ({"sample": 100}, "sample: with private bounds must be a rate"),
        ({"sample": 0.5, "neighbours": "replace-one"}, "sample: with private bounds"),
        ({"algorithm": "sites"}, "bounds: must be public for 'sites'"),
        ({"bounds": {"age": "privat"}}, "bounds of age: must be"),
        ({"bounds": {"age": "private:0.6"}}, "bounds of age: must be"),
        ({"bounds": {"age": "private:0.3", "lon": "private:0.3"}}, "at most half of epsilon"),
        ({"algorithm": "exact-coreset", "algorithm_params": {"queries": -1}}, "queries"),
    ],
)
def test_what_does_not_go_together_is_refused_before_the_charge(book, asked, words):
    with pytest.raises(ParameterError, match=words):
        ask(people(100), ledger=book, dataset="people", **asked)
    assert charges(book) == []


def test_what_an_algorithm_refuses_is_refused_before_the_ranges_are_charged(book):
    many = {f"c{i}": "private" for i in range(8)}
    data = pd.DataFrame(np.zeros((50, 8)), columns=list(many))
    with pytest.raises(ParameterError):
        ask(data, bounds=many, algorithm="net-coreset", ledger=book, dataset="people")
    assert charges(book) == []


@pytest.mark.parametrize("every", [20, 200, 10**6])
def test_rows_that_are_nearly_all_0_have_a_range_too(every):
    """0 is certain; what lies beside it is guessed, so that there is a width to measure by."""
    gains = np.where(np.arange(20_000) % every, 0.0, 1e5)
    found = ask(pd.DataFrame({"gain": gains}), bounds={"gain": "private"}, epsilon=4.0, random_state=1)
    low, high = found.certificate.parameters["bounds"]["ranges"]["gain"]
    assert low <= 0 <= high
    assert high - low > 1e-6
    if every < 1000:  # seen, or the likeliest
        assert 1e5 <= high < 4e5


def test_numbers_that_are_all_the_same_have_a_range_too():
    found = ask(pd.DataFrame({"x": np.full(5000, 7.0)}), bounds={"x": "private"}, epsilon=4.0, random_state=1)
    low, high = found.certificate.parameters["bounds"]["ranges"]["x"]
    assert 0 < low < 7 < high < 20


def test_many_columns_share_a_quarter():
    shares = ranges.read_private({f"c{i}": "private" for i in range(10)})[1]
    assert sum(shares.values()) == MOST_SHARE
    assert ranges.read_private({"a": "private"})[1] == {"a": USUAL_SHARE}
    assert ranges.read_private({"a": (0, 1)}) == ({"a": (0, 1)}, {})
    with pytest.raises(ParameterError, match="at most 250"):
        ranges.read_private({f"c{i}": "private" for i in range(251)})


def test_estimators_work_in_the_ranges_that_were_found():
    data = people(6000)[["age", "income", "lon"]]
    model = KMeans(2, epsilon=4.0, bounds=BOUNDS, random_state=3).fit(data)
    income = model.release_.certificate.parameters["bounds"]["ranges"]["income"]
    assert model.cluster_centers_[:, 1].min() >= income[0]
    assert (model.predict(data) == model.release_.predict(data)).all()
    made = PrivateCoreset(2, epsilon=4.0, bounds=BOUNDS, random_state=3).fit(data).coreset_
    assert made.certificate.epsilon == 4.0


def test_on_the_command_line(tmp_path, capsys):
    people(20_000).to_csv(tmp_path / "people.csv", index=False)
    book = Ledger.create(tmp_path / "x.ledger", dataset="people", epsilon=4)
    told = ["--bounds", "age=0:120,income=private,lon=private:0.1", "--ledger", str(book.path), "--dataset", "people"]
    main(["fit", str(tmp_path / "people.csv"), "-k", "2", "--epsilon", "4", *told])
    out = " ".join(capsys.readouterr().out.split())
    assert "was found privately" in out
    assert "Charged epsilon 4 to data set 'people'. Left: 0 of 4." in out

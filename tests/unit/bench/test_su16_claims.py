"""Claims of Su et al. 2016: forms are kept apart, and what is not reproduced is false here or cannot be tested."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from covey.bench.su16 import claims
from covey.bench.su16.cells import COVEY, HIGH, LOW, PRINTED, View, of_form
from covey.bench.su16.claims import FALSE, UNTESTED, Claim, forms, judge, own_sets

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "su16" / "results.json"
OWN = {"name": "own", "stands_in": "", "times_as_wide": 1.1}
WIDE = {"name": "wide", "stands_in": "", "times_as_wide": 3.0}
OTHER = {"name": "other", "stands_in": "another cut", "times_as_wide": 1.0}


@pytest.fixture(scope="module")
def results() -> dict:
    return json.loads(RESULTS.read_text())


def verdict(monkeypatch, failing: str, **about: tuple[str, ...]) -> str:
    """Why a statement fails that fails wherever it is asked of the set `failing`."""
    rule = lambda view: ("", failing not in (view.sets or ("synthetic",)))  # noqa: E731
    monkeypatch.setattr(claims, "CLAIMS", (Claim("1", "words", "rule", rule, **about),))
    (row,) = judge({}, [], [OWN, WIDE, OTHER])
    assert row["reproduced"] is (row["why_not"] == "")
    return row["why_not"]


@pytest.mark.parametrize(("failing", "why"), [("none", ""), ("own", FALSE), ("wide", UNTESTED), ("other", UNTESTED)])
def test_a_statement_is_false_here_only_by_rows_that_are_the_papers_own(monkeypatch, failing, why):
    assert verdict(monkeypatch, failing, about=("own", "wide", "other")) == why


def test_synthetic_sets_count_as_the_papers_own(monkeypatch):
    assert verdict(monkeypatch, "synthetic", about=()) == FALSE


def test_a_statement_about_rows_that_are_not_here_cannot_be_tested(monkeypatch):
    assert verdict(monkeypatch, "other", about=("other",)) == UNTESTED
    assert verdict(monkeypatch, "own", about=("own", "other"), needs=("other",)) == UNTESTED
    assert verdict(monkeypatch, "own", about=("own", "other"), needs=("own",)) == FALSE


def test_wider_bounds_make_other_rows():
    assert own_sets([OWN, WIDE, OTHER]) == ["own"]


def test_rows_of_a_form_are_those_run_in_it_and_those_that_have_one_form_alone():
    rows = [{"algorithm": name, "nicv": i} for i, name in enumerate(("lloyd", "grid", "grid, printed"))]
    assert [(row["algorithm"], row["nicv"]) for row in of_form(rows, PRINTED)] == [("lloyd", 0), ("grid", 2)]
    assert [(row["algorithm"], row["nicv"]) for row in of_form(rows, COVEY)] == [("lloyd", 0), ("grid", 1)]


def test_a_claim_has_two_forms_where_its_figure_holds_both():
    claim = Claim("5", "words", "rule", lambda _: ("", True), twice=("grid", "hybrid"))
    rows = [{"algorithm": name} for name in ("grid", "grid, printed", "hybrid")]
    assert forms(claim, {"figure5": rows}) == (COVEY,)
    assert forms(claim, {"figure5": [*rows, {"algorithm": "hybrid, printed"}]}) == (PRINTED, COVEY)


def test_measured_claims_have_a_reason_where_and_only_where_they_fail(results):
    for row in results["claims"]:
        assert row["why_not"] in (("",) if row["reproduced"] else (FALSE, UNTESTED))
    assert own_sets(results["sets"]) == ["S1", "Adult-num"]


@pytest.mark.parametrize(("sets", "why"), [(("S1", "Adult-num"), FALSE), (("Gowalla", "TIGER", "Image"), UNTESTED)])
def test_rules_look_at_the_numbers_of_each_form_on_each_set(results, sets, why):
    """hybrid as printed made much worse on some sets: its verdict follows, and nobody else's."""
    figures = deepcopy(results["figures"])
    for row in figures["figure5"]:
        if row["algorithm"] == "hybrid, printed" and row["set"] in sets:
            row["nicv"] *= 100
    before, after = results["claims"], judge(figures, results["forced"], results["sets"])
    (at,) = [i for i, row in enumerate(after) if row["form"] == PRINTED and row["paper"].startswith("at larger")]
    assert after[at]["why_not"] == why
    assert [row for row in after if row["form"] != PRINTED] == [row for row in before if row["form"] != PRINTED]


def test_every_rule_can_be_asked_of_the_papers_own_sets_alone(results):
    for claim in claims.CLAIMS:
        own = tuple(name for name in claim.about if name in ("S1", "Adult-num"))
        if set(claim.needs) <= set(own) and (own or not claim.about):
            for form in forms(claim, results["figures"]):
                assert claim.judge(View(results["figures"], results["forced"], form, own))[0]
    assert {name for claim in claims.CLAIMS for name in claim.about} == {*LOW, *HIGH}

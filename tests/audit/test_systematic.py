"""Mutants from the syntax tree: a few of the sample are made and noticed again, and every survivor is explained.

The whole sample is hunted by tests/audit/full.py, for `make audit`; its results are docs/audit/systematic.json.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache

import pytest
from mutants.killing import run
from systematic.explained import ADDED, EXPLAINED
from systematic.making import Made, files, mutants_of, sample
from systematic.page import ASSERTED, PAGE, RESULTS, page
from systematic.reach import ROOT, Blocks, starts_of

KINDS = ("argument", "branch", "check", "comparison", "constant", "field", "place", "state", "term")
AGAIN = 12


@cache
def results() -> list[dict[str, object]]:
    return json.loads(RESULTS.read_text())["mutants"]


def once_more() -> list[tuple[Made, str]]:
    """A dozen that were noticed by an assertion, quickly, in different files; not those whose code is another now."""
    found: dict[str, tuple[Made, str]] = {}
    for each in results():
        if each.get("how") in ASSERTED and each["seconds"] < 0.3:
            file = each["where"].partition(":")[0].replace(".", "/") + ".py"
            made = next((made for made in mutants_of(file) if made.id == each["id"]), None)
            if made is not None and file not in found:
                found[file] = made, each["by"].removeprefix("tests/")
        if len(found) == AGAIN:
            break
    return list(found.values())


def test_a_dozen_of_the_sample_are_noticed_again():
    chosen = once_more()
    assert len(chosen) == AGAIN, "the code has changed: python tests/audit/full.py hunts a new sample"
    for made, killer in chosen:
        before = run(killer)
        assert before.healthy, (killer, before.died, before.broken)
        with made.applied():
            after = run(killer)
        assert after.killed(), (made.where, made.before, made.after, after.died, after.broken)
    assert run(chosen[-1][1]).healthy  # the bug is gone again


def test_every_survivor_is_explained():
    survived = {each["id"] for each in results() if each["outcome"] != "killed"}
    assert survived == set(EXPLAINED)
    assert len(results()) >= 600
    assert len(survived) <= 0.05 * len(results())


def test_the_tests_that_were_missing_are_there():
    for test in ADDED:
        file, _, name = test.partition("::")
        assert re.search(rf"def {name}\(", (ROOT / "tests" / file).read_text()), test


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == page(), "python tests/audit/systematic/page.py writes it anew"


def test_the_sample_has_every_kind_and_a_seed_repeats_it():
    made = [
        each for file in ("noise/threshold.py", "fit/cap.py", "budget/ledger/rules.py") for each in mutants_of(file)
    ]
    drawn = sample(made, 90, seed=1)
    assert [each.id for each in drawn] == [each.id for each in sample(made, 90, seed=1)]
    assert [each.id for each in drawn] != [each.id for each in sample(made, 90, seed=2)]
    assert len({each.id for each in made}) == len(made)
    assert {each.kind for each in drawn} == set(KINDS)
    fewer = sample(made[: len(made) // 2], 45, seed=1)
    assert {each.id for each in drawn} & {each.id for each in fewer}  # code that is added changes few


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("noise/threshold.py", "128", "131"),
        ("noise/threshold.py", "shown_high <= allowed_low", "shown_high < allowed_low"),
        ("noise/threshold.py", "linf + margin", "margin"),
        ("noise/threshold.py", "bits *= 2", "bits = 2"),
        ("noise/threshold.py", "margin is None", "not margin is None"),
        ("noise/averages.py", "np.clip(table, low, high)", "np.clip(table, high, low)"),
        ("noise/averages.py", "self.epsilon <= 0", "self.epsilon < 0"),
        ("private/curator.py", "self._charge()", "pass"),
    ],
)
def test_what_is_made(file, before, after):
    made = [each for each in mutants_of(file) if (each.before, each.after) == (before, after)]
    assert made, sorted({(each.before, each.after) for each in mutants_of(file) if each.before == before})
    assert all(ast.parse(each.source) for each in made)


def test_words_of_errors_and_types_are_left_alone():
    for made in mutants_of("noise/threshold.py"):
        assert "delta: Fraction" in made.source or "def smallest_threshold" not in made.source
        assert made.kind == "check" or "too small for noise" not in made.before


def test_every_file_that_privacy_rests_on_has_mutants():
    covered = [file for file in files() if not file.endswith("__init__.py")]
    assert {file.partition("/")[0] for file in covered} == {
        *("private", "noise", "queries", "budget", "fit", "algorithms", "studio"),
    }
    assert "private/curator.py" in covered
    assert not any(file.endswith("/spark.py") for file in covered)


def test_notes_are_put_at_the_head_of_every_block():
    source = 'def f(x):\n    "words"\n    if x:\n        return 1\n    return 2\n'
    blocks = Blocks(7)
    tree = ast.fix_missing_locations(blocks.visit(ast.parse(source)))
    assert sorted(blocks.starts) == [3, 4, 5]
    entered = bytearray(16)
    scope: dict[str, object] = {"__entered__": entered}
    exec(compile(tree, "<noted>", "exec"), scope)
    assert scope["f"](1) == 1
    assert scope["f"].__doc__ == "words"
    assert sum(entered) == 2
    assert scope["f"](0) == 2
    assert sum(entered) == 3
    assert starts_of("noise/threshold.py") == sorted(starts_of("noise/threshold.py"))

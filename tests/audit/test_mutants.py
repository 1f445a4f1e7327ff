"""Every planted bug is noticed by the test that is named for it, and that test passes without the bug.

The bugs are in mutants/, by subject. A killer is a test of the suite, run as pytest runs it, in this process, once
with the bug planted; the case that fails is then run on the library as it is, unless this call of pytest does that
anyway. It must fail by what it asserts: a crash proves nothing, unless the catalogue says that crashing is how the bug
shows.
"""

from __future__ import annotations

import re
from itertools import groupby

import pytest
from mutants import MUTANTS
from mutants.killing import TESTS, Verdict, run
from mutants.page import PAGE, page
from mutants.planting import Edit, Mutant, find

HARMLESS = Mutant(
    "harmless",
    "none: the same words",
    (Edit("noise.mechanisms:DiscreteLaplace.event", {"Pure(self.epsilon)": "Pure((self.epsilon))"}),),
    "unit/noise/test_mechanisms.py::test_events",
)


def by_killer() -> list[object]:
    """The bugs that one test is named for, together: without a bug its cases need only be run once."""
    ordered = sorted(MUTANTS, key=lambda mutant: (mutant.killer, mutant.slow))
    found = [(slow, list(some)) for (_, slow), some in groupby(ordered, key=lambda each: (each.killer, each.slow))]
    return [
        pytest.param(some, id=", ".join(each.name for each in some), marks=[pytest.mark.slow] if slow else [])
        for slow, some in found
    ]


@pytest.fixture(scope="session")
def tried_anyway(request) -> set[str]:
    """The cases that this call of pytest runs by themselves, too, and that fail it if they fail without a bug."""
    return {item.nodeid.removeprefix(f"{TESTS.name}/") for item in request.session.items}


@pytest.mark.parametrize("mutants", by_killer())
def test_the_planted_bug_is_noticed(mutants, tried_anyway):
    cases: set[str] = set()
    for mutant in mutants:
        with mutant.applied():
            bug = run(mutant.killer)
        assert bug.killed(mutant.dies_of), (mutant.name, bug.passed, bug.died, bug.broken)
        cases |= bug.cases
    if others := sorted(cases - tried_anyway):
        none = run("  ".join(others))
        assert none.healthy, (none.died, none.broken, none.output[-2000:])
        assert none.passed == len(others)


def test_every_planted_bug_is_tried():
    tried = [mutant for parameters in by_killer() for mutant in parameters.values[0]]
    assert sorted(each.name for each in tried) == sorted(each.name for each in MUTANTS)


def test_without_a_bug_nothing_is_noticed():
    """The other way round: the machinery itself makes no test fail."""
    with HARMLESS.applied():
        verdict = run(HARMLESS.killer)
    assert verdict.healthy
    assert not verdict.killed()


def test_a_planted_bug_is_taken_out_again():
    for mutant in MUTANTS:
        before = [find(edit.where).__code__ for edit in mutant.edits]
        with mutant.applied():
            assert all(find(e.where).__code__ is not code for e, code in zip(mutant.edits, before, strict=True))
        assert [find(edit.where).__code__ for edit in mutant.edits] == before


def test_words_that_are_no_longer_there_cannot_be_replaced():
    """A mutant never becomes harmless because the library has changed: it must be written anew."""
    gone = Mutant("gone", "", (Edit("noise.mechanisms:DiscreteLaplace.event", {"no such words": ""}),), "")
    with pytest.raises(LookupError, match="0 times"), gone.applied():
        pass
    with pytest.raises(AttributeError):
        find("noise.mechanisms:NoSuchMechanism.add")


def test_a_test_that_crashes_or_is_not_there_kills_nothing():
    assert not Verdict(died=[("TypeError", "x")]).killed()
    assert Verdict(died=[("TypeError", "x")]).killed(("TypeError",))
    assert not Verdict(died=[("AssertionError", "x")], broken=["setup"]).killed()
    missing = run("unit/noise/test_mechanisms.py::test_no_such_thing")
    assert not missing.healthy
    assert not missing.killed()


def test_the_catalogue_is_in_order():
    assert len(MUTANTS) >= 36
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len({mutant.bug for mutant in MUTANTS}) == len(MUTANTS)
    for mutant in MUTANTS:
        file, _, test = mutant.killer.partition("::")
        name = test.partition("[")[0].rpartition("::")[2]
        assert re.search(rf"def {name}\(", (TESTS / file).read_text()), mutant.name


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == page(), "python tests/audit/mutants/page.py writes it anew"

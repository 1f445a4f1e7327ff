"""Public names are pinned and documented; proofs stand beside what they prove; files stay readable."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import covey
from covey.algorithms.registry import ALGORITHMS, SUPPLIED

PACKAGE = Path(covey.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def test_public_names_are_pinned():
    assert covey.__all__ == [
        "Ball",
        "Box",
        "BudgetError",
        "Certificate",
        "Coreset",
        "CoresetStream",
        "CoveyError",
        "DataError",
        "FormatError",
        "KMeans",
        "KMedian",
        "Ledger",
        "LedgerError",
        "Neighbours",
        "NotNumericError",
        "ParameterError",
        "Person",
        "PrivateCoreset",
        "Release",
        "Zones",
        "truthful_bound",
    ]


@pytest.mark.parametrize("name", covey.__all__)
def test_public_names_exist_and_are_documented(name):
    thing = getattr(covey, name)
    assert (thing.__doc__ or "").strip()
    assert not thing.__doc__.startswith(f"{name}("), "a dataclass's generated docstring says nothing"
    assert name in dir(covey)


@pytest.mark.parametrize("name", [name for name in covey.__all__ if inspect.isclass(getattr(covey, name))])
def test_public_methods_are_documented(name):
    thing = getattr(covey, name)
    own = [each for each in vars(thing).items() if not each[0].startswith("_") and callable(each[1])]
    silent = [method for method, body in own if not inspect.getdoc(body)]
    assert [each for each in silent if each not in ("domain", "to_json")] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        covey.no_such_name  # noqa: B018


def documented(docstring: str) -> set[str]:
    """The names that stand before a colon at the beginning of a line, several separated by commas."""
    heads = re.findall(r"^\s*((?:\w+,\s*)*\w+) : ", docstring, flags=re.MULTILINE)
    heads += re.findall(r"\. (\w+) : ", docstring)
    return {name.strip() for head in heads for name in head.split(",")}


@pytest.mark.parametrize("name", ["KMeans", "KMedian", "PrivateCoreset"])
def test_every_parameter_of_an_estimator_is_documented(name):
    estimator = getattr(covey, name)
    assert set(inspect.signature(estimator).parameters) - documented(estimator.__doc__) == set()


def test_the_docstring_check_can_fail():
    assert documented("a, b : two. c : three.\n    d : four") == {"a", "b", "c", "d"}
    assert "epsilon" not in documented("we speak of epsilon: a lot")


@pytest.mark.parametrize("row", ALGORITHMS.values(), ids=list(ALGORITHMS))
def test_every_algorithm_states_its_guarantee(row):
    text = inspect.getdoc(row.run) or ""
    assert "Guarantee" in text
    assert row.summary
    assert row.paper
    assert row.neighbours
    assert row.guarantee in ("pure", "approximate", "either")
    keyword_only = [p for p in inspect.signature(row.run).parameters.values() if p.name != "curator"]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in keyword_only)
    assert {p.name for p in keyword_only if p.default is inspect.Parameter.empty} <= SUPPLIED


@pytest.mark.parametrize("row", ALGORITHMS.values(), ids=list(ALGORITHMS))
def test_every_parameter_of_an_algorithm_declares_its_range_and_its_default_is_in_it(row):
    assert [name for name in row.parameters if not row.ranges[name].kinds] == []
    assert row.check_parameters(row.parameters) == row.parameters


QUERY_MODULES = sorted(path for path in (PACKAGE / "queries").glob("*.py") if path.stem not in ("__init__", "base"))
PROVEN = [*QUERY_MODULES, PACKAGE / "private/lattice.py", PACKAGE / "private/cells.py"]


@pytest.mark.parametrize("path", PROVEN, ids=lambda path: path.stem)
def test_every_query_has_its_proof_beside_it(path):
    note = path.with_suffix(".md")
    assert note.exists()
    assert len(note.read_text()) > 200
    assert note.name in (ast.get_docstring(ast.parse(path.read_text())) or "")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_files_stay_readable(path):
    text = path.read_text()
    assert len(text.splitlines()) < 350
    if path.name != "__init__.py":
        assert ast.get_docstring(ast.parse(text)), "a file says what it is for"

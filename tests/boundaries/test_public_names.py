"""Public names are pinned and documented; proofs stand beside what they prove; files stay readable."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import covey
from covey.algorithms.registry import ALGORITHMS, SUPPLIED
from covey.levels import USUAL_LEVELS, fit_levels

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
        "File",
        "FormatError",
        "KMeans",
        "KMedian",
        "Ledger",
        "LedgerError",
        "MissingError",
        "Neighbours",
        "NotNumericError",
        "ParameterError",
        "Person",
        "PrivacyWarning",
        "PrivateCoreset",
        "Release",
        "Zones",
        "check_pipeline",
        "plan",
        "profile",
        "score",
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


def documented(docstring: str, section: str = "Parameters") -> dict[str, str]:
    """The entries of a section in numpydoc form, `name : type` with indented words below; of each name its type."""
    text = inspect.cleandoc(docstring)
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, flags=re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^\*{0,2}(\w+) : (\S.*)\n {4}\S", found.group(1) if found else "", flags=re.MULTILINE)
    return dict(entries)


def undocumented(function: Callable[..., object], docstring: str) -> list[str]:
    """What the section of parameters lacks or has too much, in the order of the signature; defaults are part of it."""
    given = {name: each.default for name, each in inspect.signature(function).parameters.items()}
    entries = documented(docstring)
    wrong = [name for name in given if name not in entries] + [name for name in entries if name not in given]
    for name in given.keys() & entries.keys():
        default = re.search(r", default=(.+)$", entries[name])
        said = default.group(1) if default else None
        named = {"USUAL_LEVELS": repr(USUAL_LEVELS)}
        if named.get(said or "", said) != (None if given[name] is inspect.Parameter.empty else repr(given[name])):
            wrong.append(f"{name}, default={given[name]!r}")
    return wrong or ([] if list(entries) == list(given) else ["the order"])


DESCRIBED = {name: getattr(covey, name) for name in ("KMeans", "KMedian", "PrivateCoreset", "Box", "Ball", "Person")}
DESCRIBED |= {"File": covey.File}
DESCRIBED |= {name: getattr(covey, name) for name in ("Coreset", "CoresetStream", "Zones", "truthful_bound")}
DESCRIBED |= {f"Ledger.{name}": getattr(covey.Ledger, name) for name in ("create", "open", "memory")}
DESCRIBED |= {"Zones.read": covey.Zones.read, "fit_levels": fit_levels, "profile": covey.profile}
DESCRIBED |= {"score": covey.score}


@pytest.mark.parametrize("name", DESCRIBED)
def test_every_parameter_is_documented_with_its_type_and_default(name):
    assert undocumented(DESCRIBED[name], DESCRIBED[name].__doc__) == []


@pytest.mark.parametrize("name", ["KMeans", "KMedian", "PrivateCoreset"])
def test_every_attribute_of_a_fitted_estimator_is_documented(name):
    model = getattr(covey, name)(2, bounds=covey.Box(a=(0, 1), b=(0, 1)), epsilon=1.0)
    fitted = vars(model.fit(pa.table({"a": [0.1, 0.9] * 50, "b": [0.2, 0.8] * 50})))
    assert documented(model.__doc__, "Attributes").keys() == {each for each in fitted if re.match(r"[a-z].*_$", each)}


@pytest.mark.parametrize("name", [*DESCRIBED, "Ledger"])
def test_the_examples_of_docstrings_run(name):
    thing = DESCRIBED.get(name, covey.Ledger)
    parser, words = doctest.DocTestParser(), inspect.getdoc(thing)
    failed, _ = doctest.DocTestRunner(verbose=False).run(parser.get_doctest(words, {}, name, None, 0))
    assert failed == 0


def test_the_docstring_check_can_fail():
    def example(a, *, b=1):
        """..."""

    head = "Words.\n\n    Parameters\n    ----------\n"
    good = head + "    a : int\n        One.\n    b : int, default=1\n        Two.\n\n    Attributes\n    ----------\n"
    assert documented(good) == {"a": "int", "b": "int, default=1"}
    assert undocumented(example, good) == []
    assert undocumented(example, good.replace("a : int", "a :")) == ["a"]
    assert undocumented(example, good.replace("        One.\n", "")) == ["a"]
    assert undocumented(example, good.replace("default=1", "default=2")) == ["b, default=1"]
    assert undocumented(example, good.replace("    b :", "    c :")) == ["b", "c"]
    assert documented("we speak of epsilon : a lot") == {}


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

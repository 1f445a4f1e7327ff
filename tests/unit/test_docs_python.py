"""Pages for people at work in Python: their code runs from the first line to the last."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

from covey import PrivacyWarning
from covey.fit.pipelines import ADVICE

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def run(page: str) -> tuple[str, list[str]]:
    """What a page's code prints, and what it is warned of."""
    code = re.findall(r"^```python\n(.*?)^```", (GUIDE / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    printed = io.StringIO()
    with warnings.catch_warnings(record=True, action="always") as said, contextlib.redirect_stdout(printed):
        exec(compile("\n".join(code), page, "exec"), {"__name__": "page"})
    return printed.getvalue(), [str(each.message) for each in said if each.category is PrivacyWarning]


@pytest.fixture(scope="module")
def pipelines():
    return run("pipelines.md")


def test_the_guide_of_pipelines_finds_the_scaler_and_shows_the_way(pipelines):
    printed, said = pipelines
    assert "minmaxscaler learns the smallest and the largest value of each column" in printed
    assert sum(message.startswith("minmaxscaler: ") for message in said) == 1


def test_the_guide_of_pipelines_counts_what_a_search_would_cost_and_searches_for_nothing(pipelines):
    printed, said = pipelines
    assert "GridSearchCV: 41 fits; a ledger is charged 41.0" in printed
    assert printed.count("'objective': 'k-means'") == printed.count("'objective': 'k-median'") == 4
    assert sum(message.startswith("ledger: ") for message in said) == 2, "a fit of the pipeline, and one of the coreset"


def test_the_table_of_steps_is_that_of_the_code():
    page = (GUIDE / "pipelines.md").read_text()
    named = re.findall(r"`(\w+(?:Scaler|Transformer|Discretizer|Imputer|Encoder|Best|Threshold)|PCA)`", page)
    assert {name for name in named if name != "FunctionTransformer"} <= set(ADVICE)


def test_the_guide_of_choosing_has_the_plan_in_python():
    printed, _ = run("choosing.md")
    assert "An extra cost of at most 5% should need epsilon" in printed

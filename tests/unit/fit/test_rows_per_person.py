"""What the rows of a person make impossible is refused before the charge; the least that works is enough."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conftest import charges
from covey import Box
from covey.errors import ParameterError
from covey.fit.fit import fit

BOX = Box(x=(-1, 1), y=(-1, 1))


FRAME = pd.DataFrame({"x": np.linspace(-1, 1, 60), "y": np.linspace(1, -1, 60) ** 2, "who": np.arange(60) // 3})


@pytest.mark.parametrize(
    "asked",
    [
        {"algorithm": "auto", "epsilon": 0.001, "rows_per_person": 10**6},
        {"algorithm": "jl-candidates", "epsilon": 0.0001, "rows_per_person": 1000},
        {"algorithm": "auto", "epsilon": 0.0001, "rows_per_person": "auto"},
        {"algorithm": "max-cover", "epsilon": 100.0, "delta": 1e-6, "rows_per_person": "auto"},
    ],
)
def test_what_the_rows_of_a_person_make_impossible_is_refused_before_the_charge(asked, monkeypatch):
    asked_for = charges(monkeypatch)
    with pytest.raises(ParameterError):
        fit(FRAME, k=2, bounds=BOX, person="who", random_state=1, **asked)
    assert not asked_for


def test_the_least_that_a_row_may_cost_is_enough(monkeypatch):
    asked_for = charges(monkeypatch)
    found = fit(FRAME, k=2, bounds=BOX, person="who", rows_per_person=1000, epsilon=0.001, random_state=1)
    assert found.certificate.parameters["people"]["epsilon_per_row"] == pytest.approx(1e-6)
    assert len(asked_for) == 1

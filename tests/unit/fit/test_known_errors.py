"""A release says what is known of its errors, or why it is not; whatever the columns, rows and noise, there is one."""

from __future__ import annotations

import numpy as np
import pytest

from covey import Box, PrivateCoreset
from covey.fit.fit import fit
from covey.post.random import public_rng


@pytest.mark.parametrize(("algorithm", "own"), [("grid", {}), ("hybrid", {"rule": "printed"})])
@pytest.mark.parametrize("d", [5, 24])
def test_cells_of_many_columns_tell_no_errors_and_take_no_longer(algorithm, own, d):
    rows = public_rng(1).normal(0, 0.3, (500, d))
    asked = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": algorithm, "algorithm_params": own}
    made = fit(rows, random_state=1, **asked)
    assert made.errors is None
    assert "four columns" in made.certificate.parameters["not_told"]["errors"]
    assert len(made.sizes) == 2


def test_a_grid_of_many_cells_says_that_they_are_many():
    rows = public_rng(1).normal(0, 0.3, (500, 2))
    made = fit(
        rows, k=2, epsilon=9000.0, bounds=(-1, 1), algorithm="grid", algorithm_params={"theta": 0.1}, random_state=1
    )
    assert made.certificate.parameters["cells_per_axis"] > 1024
    assert "cells" in made.certificate.parameters["not_told"]["errors"]


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 5000.0])
@pytest.mark.parametrize("algorithm", ["auto", "grid"])
@pytest.mark.parametrize("rows", [0, 1, 100])
def test_full_errors_never_cost_a_release(algorithm, epsilon, rows):
    data = public_rng(1).normal(0, 0.3, (rows, 2))
    for seed in range(1 if epsilon > 1 else 2):
        made = fit(data, k=3, epsilon=epsilon, bounds=(-1, 1), algorithm=algorithm, random_state=seed, errors="full")
        known = made.errors
        assert known is not None
        why = made.certificate.parameters.get("not_told", {})
        assert (known.radii is None) == ("places" in why)
        assert (known.excess is None) == ("places" in why or "excess" in why)
        assert known.radii is None or len(known.radii) == 3
        assert np.isfinite(known.excess or 0)


@pytest.mark.parametrize(
    ("d", "more", "why"),
    [
        (6, {}, "not where they are"),
        (16, {"epsilon": 0.5}, "not where they are"),
        (2, {"algorithm": "lloyd"}, "not where they are"),
        (2, {"sample": 0.1}, "sample"),
        (2, {"algorithm": "lloyd", "sample": 0.1}, "sample"),
        (2, {"zones": [(Box((-1, -0.1), (-1, 1)), 0.5)]}, "zones"),
        (2, {"k": 101}, "too many centres"),
    ],
)
def test_full_errors_say_why_they_have_no_places_and_no_extra_cost(d, more, why):
    data = public_rng(1).normal(0, 0.3, (3000, d))
    made = fit(data, **{"k": 2, "epsilon": 1.0, **more}, bounds=(-1, 1), random_state=1, errors="full")
    told = made.certificate.parameters["not_told"]
    assert why in told["places"]
    assert why in told["excess"]
    quick = fit(data, **{"k": 2, "epsilon": 1.0, **more}, bounds=(-1, 1), random_state=1)
    assert not {"places", "excess"} & quick.certificate.parameters.get("not_told", {}).keys()  # nobody asked


def test_what_full_errors_do_not_say_is_said_in_words():
    data = public_rng(1).normal(0, 0.3, (3000, 6))
    words = [
        fit(data, k=2, epsilon=1.0, bounds=(-1, 1), random_state=1, errors=each).words for each in ("full", "quick")
    ]
    told = "without noise, and how much more they cost, cannot be told: only the rows of each cluster were counted"
    assert [any(told in each for each in found) for found in words] == [True, False]


@pytest.mark.parametrize("sample", [None, 40])
@pytest.mark.parametrize("algorithm", ["auto", "net-coreset"])
def test_no_size_is_more_than_the_public_number_of_rows(algorithm, sample):
    """Whether or not the errors of the sizes are known."""
    asked = {"k": 1, "epsilon": 0.05, "bounds": (-1, 1), "algorithm": algorithm, "neighbours": "replace-one"}
    data = np.full((60, 2), 0.3)
    largest = [fit(data, **asked, sample=sample, random_state=seed).sizes[0] for seed in range(8)]
    assert max(largest) == pytest.approx(60)


@pytest.mark.parametrize("method", ["auto", "net"])
def test_centres_of_a_coreset_have_no_more_rows_than_there_are(method):
    made = PrivateCoreset(2, epsilon=0.05, bounds=(-1, 1), method=method, neighbours="replace-one", random_state=0)
    data, sizes, ends = np.full((60, 2), 0.3), [], []
    for seed in range(6):
        coreset = made.set_params(random_state=seed).fit(data).coreset_
        for found in (coreset.kmeans(1), coreset.kmeans(2, fixed=[[0.1, 0.1]])):
            sizes += found.sizes
            ends += [high for _, high in (found.errors.sizes if found.errors is not None else [])]
    assert max(sizes) == pytest.approx(60)
    assert max(ends, default=0) <= 60 * (1 + 1e-12)

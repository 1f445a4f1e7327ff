"""A document whose errors are none is refused when it is read, in words; whatever it is asked after that answers."""

from __future__ import annotations

import json

import pytest

from covey import Coreset, FormatError, Release
from covey.fit.fit import fit
from covey.post.random import public_rng


@pytest.fixture(scope="module")
def document() -> str:
    rows = public_rng(3).normal(0, 0.2, (3000, 2))
    made = fit(rows, k=2, epsilon=1.0, bounds=(-1, 1), algorithm_params={"keep_synopsis": True}, random_state=1)
    return made.to_json().decode()


BAD = [
    {"level": 0},
    {"level": 1.5},
    {"level": "nan"},
    {"count_scale": -1},
    {"sizes": [[1, 2]]},
    {"sizes": [[2, 1], [0, 1]]},
    {"sizes": [[1, 2, 3], [1, 2, 3]]},
    {"sizes": [[0, 1]] * 10_000},
    {"joint_sizes": [[2, 1], [0, 1]]},
    {"doubtful": [True]},
    {"costs": {"k-means": [1, 3, 2]}},
    {"costs": {"anything": [2, 1, 3]}},
    {"costs": {"k-means": [9, 1, 3]}},
    {"radii": [0.1]},
    {"radii": [-0.1, 0.1]},
    {"radii": [None, 10**30]},
    {"excess": -0.5},
]


@pytest.mark.parametrize("errors", BAD, ids=str)
def test_errors_that_are_none_are_refused(document, errors):
    with pytest.raises(FormatError, match="release"):
        Release.from_json(json.dumps(json.loads(document) | {"errors": errors}).encode())


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
@pytest.mark.parametrize("where", ["excess", "count_scale", "level"])
def test_numbers_that_are_none_are_refused(document, where, number):
    text = json.dumps(json.loads(document) | {"errors": {where: "here"}})
    with pytest.raises(FormatError, match="release"):
        Release.from_json(text.replace('"here"', number).encode())


@pytest.mark.parametrize(
    "noise",
    [
        {"variances": -1},
        {"variances": []},
        {"variances": [1.0]},
        {"thresholds": [1.0] * 100_000},
        {"scales": 0},
        {"scales": -1.0},
        {"scales": None},
    ],
    ids=str,
)
def test_noise_that_is_none_is_refused(document, noise):
    found = json.loads(document)
    found["coreset"]["noise"] |= noise
    with pytest.raises(FormatError, match="release"):
        Release.from_json(json.dumps(found).encode())


@pytest.mark.parametrize("noise", [{"variances": 1e300}, {"scales": 1e-300}, {"thresholds": -1e300}], ids=str)
@pytest.mark.parametrize("weight", [None, 1e300, -1e300, 0.0])
def test_a_coreset_of_absurd_noise_answers(document, noise, weight):
    found = json.loads(document)
    found["coreset"]["noise"] |= noise
    if weight is not None:
        found["coreset"]["weights"] = [weight] * len(found["coreset"]["weights"])
    try:
        coreset = Coreset.of(Release.from_json(json.dumps(found).encode()))
    except FormatError:
        return
    told = coreset.cost([[0.0, 0.0], [0.5, 0.5]], interval=True)
    assert len(told) == 4
    assert len(coreset.kmeans(2, random_state=1).centres) == 2


@pytest.mark.parametrize("k", [0, -3, True, 1500, 10**9, 2**62, "many", None, 2.5])
def test_a_certificate_that_lies_about_k_does_not_cost_its_reader(document, k):
    found = json.loads(document)
    found["certificate"]["parameters"]["k"] = k
    coreset = Coreset.of(Release.from_json(json.dumps(found).encode()))
    assert coreset.cost([[0.0, 0.0], [0.5, 0.5]]) > 0


@pytest.mark.parametrize("number", ["1" + "0" * 400, "1e300", "-1e300", "1e-320", "true", '"x"', "null", "[1]"])
@pytest.mark.parametrize("name", ["rows_inside", "rows_outside", "rows_outside_scale", "sample", "cost_noise"])
def test_notes_that_are_no_numbers_are_told_as_nothing(document, name, number):
    found = json.loads(document)
    found["certificate"]["parameters"] |= {name: "here", "cost_trusted": True}
    found["coreset"] |= {"cells": None, "noise": None, "spreads": [0.1] * len(found["coreset"]["points"])}
    release = Release.from_json(json.dumps(found).replace('"here"', number).encode())
    share = release.rows_outside
    assert share is None or 0 <= share.low <= share.share <= share.high <= 1
    assert len(Coreset.of(release).cost([[0.0, 0.0]], interval=True)) == 4


@pytest.mark.parametrize(
    "domain",
    [
        {"type": "box", "lower": [0, 0], "upper": [0, 1]},
        {"type": "box", "lower": [0, 0], "upper": [-1, 1]},
        {"type": "box", "lower": [0, 0], "upper": [10**400, 1]},
        {"type": "ball", "center": [0, 0], "radius": 0},
        {"type": "ball", "center": [0, 0], "radius": -1},
        {"type": "ball", "center": [0, 10**400], "radius": 1},
    ],
    ids=lambda domain: str(domain)[:60],
)
def test_a_domain_that_is_none_is_refused(document, domain):
    found = json.loads(document)
    found["certificate"]["domain"] = domain
    with pytest.raises(FormatError, match="promise"):
        Release.from_json(json.dumps(found).encode())

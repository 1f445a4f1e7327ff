"""Reruns of a fit on made-up rows: from released numbers alone, within bounds whatever a document says."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from covey import CoveyError, FormatError, Release
from covey.fit.fit import fit
from covey.fit.session import heard_by
from covey.post.random import public_rng

ROWS = public_rng(3).normal(0, 0.2, (500, 2))


@pytest.fixture(scope="module")
def kept() -> Release:
    """A release whose reader can run its fit again."""
    params = {"keep_synopsis": True}
    return fit(ROWS, k=3, epsilon=1.0, bounds=(-1, 1), algorithm="grid", algorithm_params=params, random_state=1)


def changed(release: Release, change) -> Release:
    document = json.loads(release.to_json())
    change(document)
    return Release.from_json(json.dumps(document).encode())


def test_nobody_hears_a_rerun(kept):
    heard = []

    def listen(curator):
        heard.append(curator)
        return curator

    with heard_by(listen):
        fit(ROWS, k=3, epsilon=1.0, bounds=(-1, 1), random_state=1, errors="full")
        assert changed(kept, lambda document: document.update(objective="k-median")).centre_radii is not None
    assert len(heard) == 1


def test_reruns_touch_neither_global_randomness_nor_the_release(kept):
    np.random.seed(5)  # noqa: NPY002
    before, content = np.random.get_state()[1].tolist(), kept.to_json()  # noqa: NPY002
    first = changed(kept, lambda document: document["certificate"].update(receipt="a"))
    second = changed(kept, lambda document: document["certificate"].update(receipt="b"))
    np.testing.assert_array_equal(first.centre_radii, second.centre_radii)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert kept.to_json() == content


def certificate(**values):
    return lambda document: document["certificate"].update(values)


def parameters(**values):
    return lambda document: document["certificate"]["parameters"].update(values)


def counts(value):
    def change(document):
        document["synopsis"]["counts"] = [value] * len(document["synopsis"]["counts"])

    return change


def many_centres(document):
    document["centres"] = [[0.1, 0.2]] * 1500
    document["sizes"] = document["errors"] = None
    document["errors"] = {"level": 0.9}


@pytest.mark.parametrize(
    "change",
    [
        certificate(epsilon=1e4),
        certificate(epsilon=1e-300),
        certificate(algorithm="sites"),
        certificate(algorithm="no such algorithm"),
        parameters(starts=10_000),
        parameters(starts="many"),
        parameters(theta=0.01),
        parameters(theta="/etc/passwd"),
        parameters(sites="/etc/passwd"),
        parameters(people=3),
        parameters(people={}),
        parameters(people={"epsilon_per_row": "1"}),
        parameters(people={"epsilon_per_row": -1}),
        parameters(people={"epsilon_per_row": 1e-300}),
        counts(0),
        counts(-5),
        counts(2**62),
        lambda document: document["synopsis"]["noise"].update(variances=1e300),
        lambda document: document["synopsis"]["noise"].update(thresholds=-1e300, scales=1e-300),
        lambda document: document.update(centres=[[1e300, -1e300]] * 3),
        lambda document: document.update(centres=[[0.0, 0.0]] * 3),
        lambda document: document.update(objective="anything"),
        many_centres,
    ],
)
def test_a_document_that_lies_about_its_fit_answers_or_is_refused_and_soon(kept, change):
    started = time.process_time()
    with np.errstate(all="raise"):
        try:
            radii = changed(kept, change).centre_radii
            assert radii is None or radii.ndim == 1
        except CoveyError:
            pass
    assert time.process_time() - started < 60  # at most 3 s


def test_a_fit_that_no_certificate_could_describe_is_refused(kept):
    with pytest.raises(FormatError, match="theta"):
        _ = changed(kept, parameters(theta="/etc/passwd")).centre_radii
    with pytest.raises(FormatError, match="epsilon"):
        _ = changed(kept, parameters(people={})).centre_radii

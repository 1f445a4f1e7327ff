"""Certificates of merged, reduced and stored coresets: no release and no promise is lost on the way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from covey.errors import CoveyError
from covey.published.certificate import Certificate
from covey.published.coreset.coreset import Coreset


def batch(number: int, *, dataset: str | None = None, epsilon: float = 1.0, seeded: bool = False) -> Coreset:
    promise = Certificate(
        algorithm="grid",
        parameters={},
        epsilon=epsilon,
        delta=0.0,
        neighbours="add-remove",
        person="one row",
        domain={"type": "box", "lower": [-1.0], "upper": [1.0]},
        seeded=seeded,
        covey="0",
        dataset=dataset,
    )
    return Coreset([[number / 10]], [3.0 + number], columns=["x"], certificate=promise)


def test_a_mixed_certificate_does_not_say_that_nobody_is_in_two():
    a, b, c = (batch(i, dataset=f"d{i}") for i in range(3))
    for mixed in (a.merge(b + c, disjoint=True), a.merge(b, disjoint=True) + c):
        certificate = mixed.certificate
        assert certificate.epsilon == 2.0
        assert "nobody is in more than one of them" not in certificate.statement
        assert "were added up; of those that nobody shares, the larger counts" in certificate.statement
    assert "nobody is in more than one of them" in a.merge(b, disjoint=True).certificate.statement
    assert "so their amounts were added up" in (a + b).certificate.statement


def test_no_path_through_merge_reduce_and_files_loses_a_release_or_a_promise(tmp_path):
    """Whatever is done between, one release is never added twice, and ε is never below what its data set has spent."""
    rng = np.random.default_rng(5)
    for attempt in range(60):
        pool = [batch(i, dataset=f"d{i % 3}" if i < 6 else None, epsilon=1 + i / 8, seeded=i == 7) for i in range(8)]
        held = [(each, {i}) for i, each in enumerate(pool)]
        for step in range(6):
            (one, left), (two, right) = (held[i] for i in rng.integers(0, len(held), 2))
            if left & right:
                with pytest.raises(CoveyError, match="count twice"):
                    one.merge(two, disjoint=True)
                continue
            joint = one.merge(two, disjoint=bool(rng.integers(2)))
            if len(joint) > 1 and rng.integers(2):
                joint = joint.reduce(max(1, len(joint) - 1), random_state=1)
            if rng.integers(2):
                path = tmp_path / f"{attempt}-{step}.{rng.choice(['json', 'parquet'])}"
                joint.save(path)
                joint = Coreset.load(path)
            held.append((joint, left | right))
        for coreset, used in held:
            promise = coreset.certificate
            spent: Counter = Counter()
            for i in used:
                spent[pool[i].certificate.dataset] += pool[i].certificate.epsilon
            unnamed = spent.pop(None, 0.0)
            assert promise.epsilon >= max(spent.values(), default=0.0) + unnamed - 1e-12
            assert promise.seeded == (7 in used)
            assert len(promise.leaves()) == len(used)

"""Coresets and medians under hypothesis: sums of promises, linear costs, kept totals, and units that do not matter."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from covey import Certificate, Coreset
from covey.events import exactly
from covey.post.kmedian import weighted_kmedian
from covey.post.random import public_rng
from covey.post.reduce import reduce_points
from covey.published.coreset.merge import joint_certificate

DOMAIN = {"type": "box", "lower": [-1.0, -1.0], "upper": [1.0, 1.0]}
amounts = st.floats(1e-6, 1e3)
chances = st.floats(0, 0.3)
names = st.none() | st.sampled_from(["north", "south", "east"])


def certificate(epsilon=1.0, delta=0.0, dataset=None):
    return Certificate(
        algorithm="made-up",
        parameters={},
        epsilon=epsilon,
        delta=delta,
        neighbours="add-remove",
        person="one row",
        domain=DOMAIN,
        seeded=False,
        covey="0.1.0",
        dataset=dataset,
    )


certificates = st.builds(certificate, amounts, chances, names)


@given(certificates, certificates, st.booleans())
def test_a_joint_promise_is_never_more_than_its_parts_keep(a, b, disjoint):
    joint = joint_certificate(a, b, disjoint=disjoint)
    apart = disjoint and a.dataset and b.dataset and a.dataset != b.dataset
    for amount in ("epsilon", "delta"):
        one, two, whole = (exactly(getattr(each, amount)) for each in (a, b, joint))
        assert whole >= (max(one, two) if apart else one + two)
    other = joint_certificate(b, a, disjoint=disjoint)
    assert (joint.epsilon, joint.delta) == (other.epsilon, other.delta)


@given(st.lists(certificates, min_size=3, max_size=5), st.data())
def test_promises_never_shrink_when_more_is_added(parts, data):
    whole = parts[0]
    for each in parts[1:]:
        assume(exactly(whole.delta) + exactly(each.delta) < 1)
        before, whole = whole, joint_certificate(whole, each, disjoint=data.draw(st.booleans()))
        assert whole.epsilon >= max(before.epsilon, each.epsilon)
        assert whole.delta >= max(before.delta, each.delta)
    assert len(whole.leaves()) == len(parts)
    one_name = [each for each in whole.leaves() if each.dataset == "north"]
    assert exactly(whole.epsilon) >= sum(exactly(each.epsilon) for each in one_name)  # the same people: always a sum


def synopsis(seed, m, signed=True):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (m, 2)), rng.laplace(0.5, 1, m) if signed else rng.exponential(1, m)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 40), st.sampled_from(["k-means", "k-median"]))
def test_costs_add_up_and_scale(seed, m, n, objective):
    a, b = (
        Coreset(*synopsis(seed + i, size), columns=["x", "y"], certificate=certificate())
        for i, size in enumerate((m, n))
    )
    sets = np.random.default_rng(seed).uniform(-1.5, 1.5, (4, 3, 2))
    both = (a + b).cost(sets, objective=objective)
    np.testing.assert_allclose(both, a.cost(sets, objective=objective) + b.cost(sets, objective=objective), atol=1e-9)
    heavy = Coreset(a.points, 3 * a.weights, columns=["x", "y"], certificate=certificate())
    np.testing.assert_allclose(heavy.cost(sets, objective=objective), 3 * a.cost(sets, objective=objective), atol=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 300), st.integers(2, 300))
def test_a_reduction_keeps_signs_totals_and_its_size(seed, m, places):
    points, weights = synopsis(seed, m)
    chosen, heavier = reduce_points(points, weights, m=places, rng=public_rng(seed))
    assert len(chosen) <= max(places, 2)
    for sign in (1, -1):
        np.testing.assert_allclose(heavier[sign * heavier > 0].sum(), weights[sign * weights > 0].sum(), atol=1e-9)
    assert (np.sign(weights[chosen]) == np.sign(heavier)).all()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_medians_do_not_depend_on_order_or_units(seed, signed):
    m, k = 1 + 37 * seed % 60, 1 + seed % 4
    points, weights = synopsis(seed, m, signed)
    starts = np.random.default_rng(seed + 1).uniform(-1, 1, (4, k, 2))
    square = {"lower": [-1.0, -1.0], "upper": [1.0, 1.0]}
    plain = weighted_kmedian(points, weights, k=k, **square, starts=starts)
    order = np.random.default_rng(seed).permutation(m)
    turned = weighted_kmedian(points[order], weights[order], k=k, **square, starts=starts)
    scaled = weighted_kmedian(
        8 * points + 2, weights / 4, k=k, lower=[-6.0, -6.0], upper=[10.0, 10.0], starts=8 * starts + 2
    )
    slack = 0.02 * np.abs(weights).sum()  # a tie that rounding breaks may lead elsewhere
    assert abs(turned.cost - plain.cost) <= slack
    assert abs(scaled.cost / 2 - plain.cost) <= slack
    assert (np.abs(plain.centres) <= 1).all()

"""`auto` where rows are too few for clusters: when it asks for one mean, what that costs, and what it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import covey
from conftest import make_curator
from covey.algorithms.auto import high, one_mean
from covey.algorithms.auto.auto import auto
from covey.algorithms.kit import Size
from covey.budget.accounting.accountant import Cost
from covey.errors import PrivacyWarning
from covey.events import Gaussian, Pure
from covey.fit.fit import fit
from covey.noise.mechanisms import RadialLaplace
from covey.post.random import public_rng
from covey.public import Neighbours
from covey.published.outside import ROWS_BY_BOUNDS
from covey.published.sentences import words_of
from covey.queries.moments import MeanAndCount

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
RELATIONS = pytest.mark.parametrize("relation", [ADD, REPLACE], ids=str)
DELTA = Fraction(1, 10**4)


def corner(n: int, d: int) -> np.ndarray:
    return np.clip(np.random.default_rng(n).normal(0.6, 0.1, (n, d)), -1, 1)


def run(rows, *, k=6, epsilon=Fraction(1), delta=Fraction(0), relation=ADD, seed=3, objective="k-means", keep=False):
    door = make_curator(rows, neighbours=relation, epsilon=epsilon, delta=delta, seed=seed)
    opened = []
    open_plan = door._reserve.open
    door._reserve.open = lambda plan: opened.append(plan) or open_plan(plan)
    rng = public_rng(seed)
    how = {"objective": objective, "public_rng": rng, "keep_synopsis": keep}
    return door, auto(door, k=k, epsilon=epsilon, delta=delta, **how), opened


def told(inside: float, outside: float = 0, scale: float = 50.0) -> dict:
    return dict(zip(ROWS_BY_BOUNDS, (inside, outside, scale), strict=True))


@RELATIONS
@pytest.mark.parametrize("delta", [Fraction(0), DELTA], ids=["pure", "delta"])
def test_beyond_four_columns_few_rows_are_asked_for_one_mean_with_all_that_is_left(relation, delta):
    door, outcome, plans = run(corner(8, 20), relation=relation, delta=delta)
    assert outcome.notes["synopsis"] == "one mean"
    assert [len(plan.events) for plan in plans] == [1, 1]
    assert plans[0].events == (Pure(Fraction(1, 50)),)
    spent = door._reserve.opened
    assert door._reserve.remaining == ()
    if delta:
        assert isinstance(plans[1].events[0], Gaussian)  # in 20 columns it is less than noise by length
        assert Fraction(98, 100) < spent.epsilon <= 1
        assert spent.delta <= delta
    else:
        assert plans[1].events == (Pure(Fraction(49, 50)),)
        assert spent == Cost(Fraction(1))
    assert outcome.sizes.shape == (6,)


def test_a_delta_that_would_be_more_noise_is_not_used():
    _, outcome, plans = run(corner(8, 5), delta=Fraction(1, 10**9))
    assert outcome.notes["synopsis"] == "one mean"
    assert plans[1].events == (Pure(Fraction(49, 50)),)


@RELATIONS
@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_tree_that_does_not_split_leaves_its_counts_to_the_mean(d, relation, monkeypatch):
    """2% for the number of rows, 40% of the rest for the tree, and what would have counted leaves: 60% of it."""
    monkeypatch.setattr(one_mean, "FEW_IN_BOXES", -1)  # where the number is public, it is not even asked for a tree
    kinds = set()
    for seed in range(12):
        door, outcome, plans = run(corner(6, d), relation=relation, seed=seed)
        amounts = [event.epsilon for plan in plans for event in plan.events]
        assert amounts == [Fraction(1, 50), Fraction(49, 50) * Fraction(7, 20), Fraction(49, 50) * Fraction(13, 20)]
        assert [len(plan.events) for plan in plans] == [1, 1, 1]  # each choice from released values starts a plan
        assert door._reserve.opened == Cost(Fraction(1))
        assert door._reserve.remaining == ()
        assert (outcome.notes["synopsis"] == "one mean") == (outcome.notes["leaves"] == 1)
        assert outcome.boxes is not None
        kinds.add(outcome.notes["synopsis"])
    assert "one mean" in kinds


def test_few_rows_whose_number_is_public_are_not_asked_for_a_tree():
    _, outcome, plans = run(corner(9, 2), relation=REPLACE)  # 9/2 x 0.98 is below 5
    assert outcome.notes["synopsis"] == "one mean"
    assert [event.epsilon for plan in plans for event in plan.events] == [Fraction(1, 50), Fraction(49, 50)]
    assert run(corner(11, 2), relation=REPLACE)[2][1].events[0].epsilon == Fraction(49, 50) * Fraction(7, 20)


@pytest.mark.parametrize(
    ("d", "relation", "delta", "border"),
    [(6, ADD, 0, 112), (6, ADD, DELTA, 60 + 350 / 6), (100, ADD, 0, 300), (6, REPLACE, 0, 224), (2, REPLACE, 0, 10)],
)
def test_the_border_by_the_released_number_of_rows(d, relation, delta, border):
    curator = make_curator(np.zeros((1, d)), neighbours=relation, epsilon=Fraction(1), seed=1)
    for rows, few in ((border - 0.5, True), (border + 0.5, False)):
        known = {"size": rows, "epsilon": Fraction(1), "delta": Fraction(delta), "told": told(rows)}
        assert one_mean.too_few(curator, **known) == few
        known |= {"size": rows * 1000, "epsilon": Fraction(1, 1000), "told": told(rows * 1000)}
        assert one_mean.too_few(curator, **known) == few


def test_rows_outside_count_where_they_stand_out_of_their_noise():
    curator = make_curator(np.zeros((1, 6)), epsilon=Fraction(1), seed=1)
    known = {"size": 500, "epsilon": Fraction(1), "delta": Fraction(0)}
    assert one_mean.too_few(curator, told=told(50, 199), **known)
    assert not one_mean.too_few(curator, told=told(50, 201), **known)


@pytest.mark.parametrize("epsilon", [Fraction(1, 4096), Fraction(1, 10**6)])
def test_noise_that_cannot_be_drawn_is_not_asked_for(epsilon):
    for d in (2, 6):
        assert run(corner(30, d), epsilon=epsilon)[1].notes["synopsis"] != "one mean"


def test_a_kept_synopsis_beyond_four_columns_is_a_tree_and_up_to_four_one_box():
    assert run(corner(8, 6), keep=True)[1].notes["synopsis"] == "tree in a subspace"
    for seed in range(12):
        outcome = run(corner(6, 2), keep=True, seed=seed)[1]
        if outcome.notes["synopsis"] == "one mean":
            break
    assert outcome.notes["synopsis"] == "one mean"
    assert outcome.coreset.weights.tolist() == outcome.boxes.counts.tolist()
    assert len(outcome.coreset.points) == 1
    assert np.array_equal(outcome.centres, run(corner(6, 2), seed=seed)[1].centres)  # keeping it changes nothing


@pytest.mark.parametrize("delta", [Fraction(0), DELTA], ids=["pure", "delta"])
def test_released_values_alone_decide_between_mean_and_clusters(monkeypatch, delta):
    """The same released numbers, the same plans, whatever the rows."""
    for noted, few in ((50, True), (5000, False)):
        size = Size(noted, Fraction(49, 50), told(noted))
        monkeypatch.setattr(high, "learn_size", lambda *_, size=size, **__: size)
        seen = [run(rows, delta=delta) for rows in (np.empty((0, 6)), corner(3000, 6))]
        assert seen[0][2] == seen[1][2]
        assert {outcome.notes["synopsis"] == "one mean" for _, outcome, _ in seen} == {few}


@pytest.mark.parametrize(("d", "relation"), [(2, REPLACE), (6, ADD), (6, REPLACE), (20, ADD)])
def test_what_is_asked_for_knows_the_rows_by_noisy_sums_alone(monkeypatch, d, relation):
    """With the noisy sums of other rows everything comes out as for those."""
    released = {}
    monkeypatch.setattr(one_mean, "FEW_IN_BOXES", 1000)
    real = one_mean.Curator.release

    def release(self, query, mechanism):
        return released.setdefault(type(query).__name__, real(self, query, mechanism))

    monkeypatch.setattr(one_mean.Curator, "release", release)
    found = [run(rows, relation=relation)[1] for rows in (corner(40, d), -corner(40, d))]
    assert found[0].notes["synopsis"] == "one mean"
    assert np.array_equal(found[0].centres, found[1].centres)
    assert found[0].notes == found[1].notes


@pytest.mark.parametrize("objective", ["k-means", "k-median"])
@pytest.mark.parametrize("k", [1, 2, 3, 9])
@pytest.mark.parametrize("d", [6, 20])
def test_the_middle_is_a_centre_beside_the_mean(d, k, objective):
    for seed in range(3):
        centres = run(corner(40, d), k=k, seed=seed, objective=objective, relation=REPLACE)[1].centres
        assert centres.shape == (k, d)
        assert k == 1 or (np.abs(centres).sum(axis=1) == 0).any()


@pytest.mark.parametrize(("n", "d", "delta"), [(100, 6, None), (100, 6, 1e-3), (120, 20, None)])
def test_one_blob_in_a_corner_is_found(n, d, delta):
    """Most of what the middle costs is gone: the noisy number of rows comes with the sums."""
    rows = corner(n, d)
    fits = [covey.KMeans(6, epsilon=1.0, delta=delta, bounds=(-1, 1), random_state=seed).fit(rows) for seed in range(9)]
    means = [each for each in fits if each.release_.certificate.parameters["synopsis"] == "one mean"]
    assert len(means) >= 4
    costs = [np.square(rows[:, None] - each.cluster_centers_).sum(axis=2).min(axis=1).sum() for each in means]
    assert np.median(costs) < 0.15 * np.square(rows).sum()
    assert np.isfinite(means[0].release_.sizes).all()


@pytest.mark.parametrize("d", [2, 6])
def test_a_release_says_that_it_gave_up_on_clusters(d):
    """In its certificate, in plain words and as a warning; and nobody is told which centre has the rows."""
    rows = corner(8, d)
    with pytest.warns(PrivacyWarning, match="too few for this epsilon to tell clusters apart"):
        model = covey.KMeans(3, epsilon=1.0, bounds=(-1, 1), neighbours="replace-one", random_state=2).fit(rows)
    release = model.release_
    assert release.certificate.parameters["synopsis"] == "one mean"
    assert "too few for this epsilon" in words_of(release)[0]
    assert sum(release.sizes) == pytest.approx(8)
    assert d <= 4 or all(low <= 0 and high >= 8 for low, high in release.errors.sizes)
    assert d <= 4 or all(release.doubtful)
    many = fit(np.repeat(rows, 400, axis=0), k=3, epsilon=1.0, bounds=(-1, 1), random_state=2)
    assert not any("too few" in each for each in words_of(many))


@RELATIONS
@pytest.mark.parametrize("d", [2, 6])
def test_the_mean_is_asked_for_with_the_noise_that_is_planned(monkeypatch, d, relation):
    """What the ledger was charged for is what is drawn: one event, of the amount of the plan."""
    drawn = []
    real = RadialLaplace.add
    monkeypatch.setattr(RadialLaplace, "add", lambda self, *a: drawn.append(self.epsilon) or real(self, *a))
    for seed in range(30):
        drawn.clear()
        _, outcome, plans = run(corner(6, d), relation=relation, seed=seed)
        if outcome.notes["synopsis"] == "one mean":
            assert [Pure(each) for each in drawn] == list(plans[-1].events)
            return
    raise AssertionError("no mean was asked for")


def test_the_number_of_rows_is_part_of_the_vector_that_noise_is_drawn_for():
    """A row adds 3/8 of the radius to it: sums alone would need less noise than the release is given."""
    query = MeanAndCount(make_curator(np.zeros((1, 6))).domain, np.zeros(6), 10.0)
    bound = query.sensitivity(ADD)
    assert bound.l2_by_block**2 >= query.clip.unit_limit**2 + query.row**2
    assert bound.block == 7


@pytest.mark.parametrize(("k", "d"), [(300, 5), (40, 784)])
def test_many_centres_are_not_searched_for_among_draws_without_end(k, d, monkeypatch):
    searched = []
    found = one_mean.cluster
    monkeypatch.setattr(
        one_mean, "cluster", lambda *rows, **how: searched.append((rows[0].size, how["k"])) or found(*rows, **how)
    )
    _, outcome, _ = run(corner(8, d), k=k)
    assert outcome.notes["synopsis"] == "one mean"
    assert outcome.centres.shape == (k, d)
    ((numbers, centres),) = searched
    assert numbers <= one_mean.MOST_NUMBERS
    assert centres <= one_mean.MOST_SEARCHED


@pytest.mark.parametrize(
    ("k", "words"),
    [
        (1, "the centre is one noisy mean."),
        (2, "one noisy mean and the middle of"),
        (3, "other places where that may be."),
    ],
)
def test_what_is_said_of_one_mean_names_no_centre_that_is_not_there(k, words):
    release = fit(corner(8, 20), k=k, epsilon=1, bounds=(-1.0, 1.0), random_state=1)
    assert any(words in sentence for sentence in words_of(release))

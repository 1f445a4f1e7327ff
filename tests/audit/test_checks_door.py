"""The door's verbs, one by one: no answer is exact, and noise has the scale of the door's own relation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conftest import make_curator
from covey.algorithms.kit import noisy_size
from covey.budget.accounting.plan import Plan
from covey.errors import ParameterError
from covey.noise.averages import ClampedAverages
from covey.noise.cover import CoverPicks
from covey.noise.mechanisms import DiscreteLaplace, Exponential, ThresholdedLaplace
from covey.noise.tree import PrivTree
from covey.public import Neighbours, resolve_bounds
from covey.queries.blocks import BlockCentres
from covey.queries.costs import NegativeCosts
from covey.queries.counts import CellCounts, Count, OccupiedCells
from covey.queries.cover import Cover
from covey.queries.grid import Grid
from covey.queries.tree import Tree
from covey.queries.voronoi import VoronoiSums

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DOMAIN = resolve_bounds((-1, 1), names=None, width=2)
LITTLE = Fraction(1, 100)
ROWS = np.random.default_rng(0).uniform(-1, 1, (300, 2))
TREE = Tree(DOMAIN, axes_per_split=2)


def different(ask, mechanism, *, relation=ADD, plan_delta=Fraction(0)) -> int:
    """How many different answers a verb gives in twelve runs on the same rows, with fresh noise."""
    seen = set()
    for seed in range(12):
        plan = Plan((mechanism.event(),), plan_delta)
        curator = make_curator(
            ROWS, domain=DOMAIN, neighbours=relation, epsilon=Fraction(50), delta=plan_delta, seed=seed, plan=plan
        )
        seen.add(repr(np.asarray(ask(curator, mechanism)).tolist()))
    return len(seen)


def test_no_verb_hands_out_what_is_exact():
    laplace, pick = DiscreteLaplace(LITTLE), Exponential(LITTLE)
    candidates = np.linspace(-1, 1, 24).reshape(12, 1, 2) * DOMAIN.limit
    for query in (Count(DOMAIN), CellCounts(Grid(DOMAIN, 3)), VoronoiSums(np.zeros((1, 2)), DOMAIN)):
        assert different(lambda door, noise, query=query: door.release(query, noise), laplace) > 6
    assert different(lambda door, noise: door.select(NegativeCosts(candidates, DOMAIN), noise), pick) > 4
    assert different(lambda door, noise: door.grow(TREE, noise).keys, PrivTree(LITTLE, 4)) > 6
    blocks = BlockCentres(domain=DOMAIN, k=1, blocks=10)
    assert different(lambda door, noise: door.average_blocks(blocks, noise), ClampedAverages(LITTLE)) > 6
    shown = ThresholdedLaplace(Fraction(1, 10), Fraction(1, 10))
    ask = lambda door, noise: door.release_by_key(OccupiedCells(Grid(DOMAIN, 2)), noise)[1]  # noqa: E731
    assert different(ask, shown, plan_delta=Fraction(1, 10)) > 6
    cover = Cover(DOMAIN, (DOMAIN.limit // 4,), 2, 2)
    ask = lambda door, noise: door.cover(cover, noise)  # noqa: E731
    assert different(ask, CoverPicks(LITTLE, Fraction(1, 10)), plan_delta=Fraction(1, 10)) > 6


class Noted:
    """A mechanism that only tells which sensitivity or relation it was used with."""

    def __init__(self, inner, seen) -> None:
        self.inner, self.seen = inner, seen

    def event(self):
        return self.inner.event()

    def add(self, exact, sensitivity, source):
        self.seen.append(sensitivity)
        return self.inner.add(exact, sensitivity, source)

    def pick(self, utilities, sensitivity, source):
        self.seen.append(sensitivity)
        return self.inner.pick(utilities, sensitivity, source)

    def add_by_key(self, keys, counts, sensitivity, source):
        self.seen.append(sensitivity)
        return self.inner.add_by_key(keys, counts, sensitivity, source)

    def splits(self, counts, *, depth, neighbours, source):
        self.seen.append(neighbours)
        return self.inner.splits(counts, depth=depth, neighbours=neighbours, source=source)

    @property
    def fan_out(self):
        return self.inner.fan_out


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_door_scales_noise_to_its_own_relation(relation):
    laplace, pick, tree = DiscreteLaplace(LITTLE), Exponential(LITTLE), PrivTree(LITTLE, 4)
    shown = ThresholdedLaplace(Fraction(1, 10), Fraction(1, 10))
    costs = NegativeCosts(np.zeros((2, 1, 2)), DOMAIN)
    cells, occupied = CellCounts(Grid(DOMAIN, 3)), OccupiedCells(Grid(DOMAIN, 3))
    asks = [
        (lambda door, noise: door.release(cells, noise), laplace, cells.sensitivity(relation)),
        (lambda door, noise: door.select(costs, noise), pick, costs.sensitivity(relation)),
        (lambda door, noise: door.release_by_key(occupied, noise), shown, occupied.sensitivity(relation)),
        (lambda door, noise: door.grow(TREE, noise), tree, relation),
    ]
    for ask, mechanism, expected in asks:
        seen: list[object] = []
        delta = getattr(mechanism.event(), "delta", Fraction(0))
        plan = Plan((mechanism.event(),), delta)
        door = make_curator(ROWS, domain=DOMAIN, neighbours=relation, delta=delta, seed=1, plan=plan)
        ask(door, Noted(mechanism, seen))
        assert seen
        assert all(each == expected for each in seen)


@pytest.mark.parametrize(("charged", "relation"), [(ADD, REPLACE), (REPLACE, ADD)])
def test_a_cover_is_refused_that_is_charged_for_another_relation(charged, relation):
    noise = CoverPicks(LITTLE, Fraction(1, 10), neighbours=charged)
    plan = Plan((noise.event(),), Fraction(1, 10))
    door = make_curator(ROWS, domain=DOMAIN, neighbours=relation, delta=Fraction(1, 10), plan=plan)
    with pytest.raises(ParameterError, match="another relation"):
        door.cover(Cover(DOMAIN, (DOMAIN.limit,), 2, 1), noise)


def test_a_noisy_number_of_rows_is_noisy():
    noise = DiscreteLaplace(Fraction(1, 10))
    doors = [make_curator(ROWS, domain=DOMAIN, seed=seed, plan=Plan((noise.event(),))) for seed in range(20)]
    sizes = [noisy_size(door, noise)[0] for door in doors]
    assert len(set(sizes)) > 8
    assert min(sizes) < len(ROWS) < max(sizes)

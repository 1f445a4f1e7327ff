"""max-cover: the exact law of a pick against enumeration, its cost, the split of the budget, and NOISY-AVG's edges."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from covey.algorithms.max_cover import _projection, cover_of, max_cover, share_out
from covey.algorithms.registry import find
from covey.budget.accounting.accountant import Cost
from covey.budget.ledger.ledger import Ledger
from covey.errors import ParameterError
from covey.fit.fit import fit
from covey.noise import cover as cover_module
from covey.noise.coins import Uniform
from covey.noise.cover import ANYWHERE, PROPOSED, CoverPicks, below, cost_of, printed_cost
from covey.noise.noisy_average import FINE, NoisyAverages, gaussian_delta
from covey.noise.source import OsSource, SeededSource
from covey.post.random import public_rng
from covey.private.covers import Coverage
from covey.public import Ball, Domain, Neighbours
from covey.queries.cover import Cover, offsets_in
from covey.queries.residuals import ResidualSums

REPLACE = Neighbours.REPLACE_ONE

DELTA = Fraction(1, 10**6)


def line(half: int = 1) -> Domain:
    return Domain(middle=(0.0,) * half, half=(1.0,) * half)


def grid_of(d: int, per_half: int, reach: int, picks: int = 1, grids: int = 1) -> Cover:
    """Grids with 2·per_half + 1 points along each axis, then half as many."""
    domain = line(d)
    sides = tuple(domain.limit // per_half * 2**i for i in range(grids))
    return Cover(domain, sides, reach, picks)


def all_points(query: Cover, grid: int) -> list[tuple[int, ...]]:
    half = query.half(grid)
    return list(itertools.product(range(-half, half + 1), repeat=query.domain.dimension))


def count_of(point, cells, weights, reach: int) -> int:
    return sum(
        w
        for c, w in zip(cells, weights, strict=True)
        if sum((a - b) ** 2 for a, b in zip(c, point, strict=True)) <= reach
    )


def enumerated(query: Cover, cells, weights, rate: float) -> dict[tuple[int, ...], float]:
    """The exponential mechanism over every grid point, by its definition."""
    raw = {g: math.exp(rate * count_of(g, cells, weights, query.reach)) for g in all_points(query, 0)}
    total = math.fsum(raw.values())
    return {g: weight / total for g, weight in raw.items()}


def shortcut(query: Cover, cells, weights, rate: float) -> dict[tuple[int, ...], float]:
    """What the authors' code draws instead: covered points beyond their first weight, else only *uncovered* points."""
    counts = {g: count_of(g, cells, weights, query.reach) for g in all_points(query, 0)}
    bare = [g for g, c in counts.items() if c == 0]
    total = len(counts) + math.fsum(math.exp(rate * c) - 1 for c in counts.values())
    return {g: ((len(counts) / len(bare)) if c == 0 else math.exp(rate * c) - 1) / total for g, c in counts.items()}


def law_of(state: Coverage, picks: CoverPicks, query: Cover) -> dict[tuple[int, ...], float]:
    """The exact law of `Coverage.pick`, from the very parts that it draws from: every proposal and every hot point."""
    rate, points = float(picks.rate), query.points(0)
    proposals = state.rows * len(query.offsets())
    top = float(cover_module._top(picks.rate, state.ceiling)) if state.ceiling else 0.0
    mass = dict.fromkeys(all_points(query, 0), 1.0)
    for block in state.blocks:
        for level, many in zip(block.levels.tolist(), block.many.tolist(), strict=True):
            for number in range(many):
                mass[tuple(block.point(level, number).tolist())] += math.expm1(rate * level)
    for number in range(proposals if state.ceiling else 0):
        place = state._proposed(number)
        if np.abs(place).max() <= query.half(0):
            count = int(state.weights[state._covered(place)].sum())
            if 1 <= count <= state.ceiling:
                mass[tuple(place.tolist())] += top * (math.expm1(rate * count) / count / top)
    total = math.fsum(mass.values())
    assert total <= points + proposals * top + 1e-9 + sum(
        math.expm1(rate * c) for b in state.blocks for c in b.counts.flat
    )
    return {g: weight / total for g, weight in mass.items()}


class Fixed(CoverPicks):
    """The same picks with a given ceiling: any is allowed, and none may change the law."""

    def ceiling(self, *, most: int, **_: int) -> int:
        return min(CEILING[0], most)


CEILING = [0]
CELLS = {
    "none": ([], []),
    "one row": ([(0, 0)], [1]),
    "a corner": ([(3, 3), (3, 2), (-3, 0)], [4, 1, 2]),
    "many": ([(0, 0), (1, 0), (-2, 2), (3, -3)], [9, 3, 1, 5]),
}


def coverage(query: Cover, cells, weights, picks: CoverPicks) -> Coverage:
    rows = [c for c, w in zip(cells, weights, strict=True) for _ in range(w)]
    nearest = np.array(rows, dtype=np.int64).reshape(-1, query.domain.dimension).T
    return Coverage(nearest, query, 0, picks)


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("ceiling", [0, 1, 3, 10**6, None])
def test_the_law_of_a_pick_is_the_exponential_mechanism_over_the_whole_grid(name, ceiling):
    """Never covered, newly covered and heavy points alike, whichever of them are proposed and whichever are listed."""
    cells, weights = CELLS[name]
    query = grid_of(2, 3, reach=2)
    kind = CoverPicks if ceiling is None else Fixed
    CEILING[0] = ceiling or 0
    picks = kind(Fraction(1, 2), DELTA)
    state = coverage(query, cells, weights, picks)
    wanted = enumerated(query, cells, weights, float(picks.rate))
    found = law_of(state, picks, query)
    assert found == pytest.approx(wanted, rel=1e-12)
    assert len(wanted) == 49
    if cells:
        wrong = shortcut(query, cells, weights, float(picks.rate))
        assert sum(wrong.values()) == pytest.approx(1)
        assert wrong != pytest.approx(wanted, rel=0.2)  # the authors' shortcut fails this very comparison


def test_the_shortcut_gives_a_newly_covered_point_away():
    """One row more makes a point less likely by 1/(e^rate - 1), at any rate: no privacy at all as the rate falls."""
    query, rate = grid_of(2, 3, reach=2), 0.01
    other = [(0, 0)], [1]
    before, after = (shortcut(query, *cells, rate) for cells in (([], []), other))
    assert before[0, 0] / after[0, 0] > 90
    before, after = (enumerated(query, *cells, rate) for cells in (([], []), other))
    assert math.exp(-rate) < before[0, 0] / after[0, 0] < 1


def joint_law(rows: list[int], *, rate: float, halves: tuple[int, ...], reach: int, picks: int, stay: bool = False):
    """Every sequence of picks and its probability, by definition: one axis, grids of side 1, 2, 4, ..."""
    law = {(): (1.0, tuple(rows))}
    for grid, half in enumerate(halves):
        side = 2**grid
        if stay and grid:
            law = {key: (p, tuple(rows)) for key, (p, _) in law.items()}
        for _ in range(picks):
            after = {}
            for key, (p, left) in law.items():
                cells = [(2 * x + side) // (2 * side) for x in left]
                counts = {g: sum((c - g) ** 2 <= reach for c in cells) for g in range(-half, half + 1)}
                total = math.fsum(math.exp(rate * c) for c in counts.values())
                for g, c in counts.items():
                    rest = tuple(x for x, cell in zip(left, cells, strict=True) if (cell - g) ** 2 > reach)
                    after[(*key, g)] = (p * math.exp(rate * c) / total, rest)
            law = after
    return {key: p for key, (p, _) in law.items()}


def hockey_stick(p: dict, q: dict, epsilon: float) -> float:
    return math.fsum(max(0.0, p[key] - math.exp(epsilon) * q[key]) for key in p)


@pytest.mark.parametrize("bound", ["stated", "exact"])
@pytest.mark.parametrize("rate", [0.05, 0.5, 1.7])
def test_all_picks_together_cost_what_is_charged(rate, bound):
    """Both directions, by enumeration of all sequences: rows that leave for all later grids are charged once."""
    picks = {"rate": rate, "halves": (4, 2), "reach": 0, "picks": 2}
    worst = 0.0
    for rows, extra in (([], 0), ([1, 1], 0), ([2, -3, -3, -3], 2), ([0] * 3, 0)):
        first, second = joint_law(rows, **picks), joint_law([*rows, extra], **picks)
        assert math.fsum(first.values()) == pytest.approx(1)
        for delta in (0.3, 0.05, 1e-3):
            epsilon = float(cost_of(Fraction(str(2 * rate)), Fraction(str(delta)), bound))
            worst = max(
                worst, hockey_stick(first, second, epsilon) / delta, hockey_stick(second, first, epsilon) / delta
            )
    assert worst <= 1


def test_rows_that_came_back_for_the_next_grid_would_cost_more():
    """Removal across radii is part of the proof: without it the joining direction exceeds one pick's rate."""
    picks = {"rate": 1.0, "halves": (2, 1), "reach": 0, "picks": 1}
    for stay, most in ((False, 1.0), (True, 2.0)):
        first, second = joint_law([], **picks, stay=stay), joint_law([0], **picks, stay=stay)
        loss = max(math.log(second[key] / first[key]) for key in first)
        assert loss <= most
        assert (loss > 1.0) is stay


def worst_delta(epsilon: float, *, rate: float, chance: float, steps: int) -> float:
    """The hockey-stick divergence when every pick covers the row with one small probability; the best stop included."""
    gain, best = math.expm1(rate), 0.0
    done = 0.0
    for t in range(steps):
        loss = t * math.log1p(gain * chance)
        best = max(best, done + (1 - chance) ** t * max(0.0, -math.expm1(epsilon - loss)))
        ended = loss + math.log1p(gain * chance) - rate
        done += (1 - chance) ** t * chance * max(0.0, -math.expm1(epsilon - ended))
    return best


@pytest.mark.parametrize("rate", [0.03, 0.3, 1.0])
def test_the_exact_bound_is_exact(rate):
    """The worst input comes within 2% of the exact bound's delta and never beyond; the stated bound is far above."""
    for delta in (1e-2, 1e-6):
        epsilon = float(cost_of(Fraction(str(2 * rate)), Fraction(str(delta)), "exact"))
        if epsilon <= rate:
            continue
        found = worst_delta(epsilon, rate=rate, chance=1e-3, steps=20_000)
        assert 0.97 * delta < found <= delta
        assert cost_of(Fraction(str(2 * rate)), Fraction(str(delta))) > cost_of(
            Fraction(str(2 * rate)), Fraction(str(delta)), "exact"
        )


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 3), Fraction(3), Fraction(40)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 3), Fraction(9, 10)])
def test_the_cost_is_the_formula_and_never_below(epsilon, delta):
    rate, log = float(epsilon) / 2, math.log(1 / float(delta))
    assert float(cost_of(epsilon, delta)) == pytest.approx(max(rate, math.expm1(rate) * log), rel=1e-14)
    tight = max(rate, math.expm1(rate) * (math.log(-math.expm1(-rate)) + log) - rate)
    assert float(cost_of(epsilon, delta, "exact")) == pytest.approx(tight, rel=1e-9)
    if epsilon <= Fraction(7, 2) and delta < Fraction(1, 3):
        assert printed_cost(epsilon, delta) >= float(cost_of(epsilon, delta))  # the theorem holds up to 3.5
    if epsilon == 40:
        assert printed_cost(epsilon, delta) < float(cost_of(epsilon, delta))  # and not beyond
    for bound in ("stated", "exact"):
        picks = CoverPicks.within(epsilon=epsilon, delta=delta, bound=bound)
        assert epsilon * Fraction(999999, 1000000) < picks.event().epsilon <= epsilon or picks.epsilon == 2 * epsilon


def scripted(word: int):
    class Words:
        seeded = True

        def __init__(self):
            self.first = True

        def words(self, count, dtype):
            value, self.first = (word, False) if self.first else (word * 7919 + 1, False)
            return np.full(count, value % 2**64, dtype=np.uint64).astype(dtype)

    return Words()


@pytest.mark.parametrize("seed", range(30))
def test_floats_and_certified_arithmetic_choose_the_same(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    picks = CoverPicks(Fraction(int(rng.integers(1, 10**6)), 10**6 if seed % 3 else 10**4), DELTA)
    levels = np.unique(rng.integers(1, 10 ** int(rng.integers(1, 5)), 20))
    many = rng.integers(1, 10**6, len(levels))
    points, ceiling = int(rng.integers(1, 10**9)) ** int(rng.integers(1, 4)), int(rng.integers(0, 3))
    given = {"points": points, "proposals": int(rng.integers(0, 10**9)), "ceiling": ceiling}
    for _ in range(20):
        word = int(rng.integers(0, 2**63)) * 2
        quick = picks.choose(**given, levels=levels, many=many, source=scripted(word))
        with monkeypatch.context() as slow:
            slow.setattr(cover_module, "_by_floats", lambda *_, **__: None)
            assert picks.choose(**given, levels=levels, many=many, source=scripted(word)) == quick
        assert quick in (ANYWHERE, PROPOSED) or 0 <= quick < len(levels)


def test_weights_beyond_the_range_of_floats():
    """e^(c/2) overflows at a cover of 1,419; here the heavy point simply wins."""
    picks = CoverPicks(Fraction(1), DELTA)
    choice = picks.choose(
        points=10**80, proposals=0, ceiling=0, levels=np.array([5, 10**7]), many=np.array([1, 1]), source=OsSource()
    )
    assert choice == 1
    assert Uniform(OsSource()).bits == 0


@pytest.mark.parametrize("count", [1, 2, 3, 2**64, 2**64 + 1, 10**30])
def test_uniform_whole_numbers(count):
    drawn = [below(count, SeededSource(i)) for i in range(200)]
    assert 0 <= min(drawn) <= max(drawn) < count
    assert count < 4 or max(drawn) > count // 2 > min(drawn)


def test_offsets_are_all_and_no_others():
    for d, reach in ((1, 3), (2, 7), (3, 11), (5, 4)):
        root = math.isqrt(reach)
        wanted = [v for v in itertools.product(range(-root, root + 1), repeat=d) if sum(x * x for x in v) <= reach]
        query = Cover(line(d), (1,), reach, 1)
        assert sorted(map(tuple, query.offsets().tolist())) == wanted
        assert offsets_in(d, reach) == len(wanted)


def test_radii_and_grids_follow_the_paper():
    query = cover_of(line(4), size=1000, growth=1.0, k=7)
    assert len(query.sides) == math.ceil(math.log2(2000))
    assert query.picks == 7
    assert query.reach == 15  # less than 4·(1 + 1)²
    assert query.sides[0] == round(query.domain.limit / 1000 / 2)
    assert cover_of(line(4), size=1000, growth=0.3, k=7).picks == 14
    rows = np.random.default_rng(1).integers(-query.domain.limit, query.domain.limit + 1, (4, 500)).astype(np.int32)
    inside = query.inside(rows)
    assert np.square(inside.astype(object)).sum(axis=0).max() <= query.domain.limit**2
    for grid in range(len(query.sides)):
        near = query.nearest(inside, grid)
        assert np.abs(near).max() <= query.half(grid)
        assert (2 * np.abs(near * query.sides[grid] - inside) <= query.sides[grid]).all()


@pytest.mark.parametrize("ball", [False, True])
def test_the_projection_is_whole_numbers_scaled_by_the_public_diameter(ball):
    d = 50
    domain = Domain(middle=(0.0,) * d, half=(1.0,) * d, ball=ball)
    made = [
        _projection(domain, size=size, growth=0.5, dimensions=None, rng=public_rng(1)) for size in (16, 5_000, 10**7)
    ]
    assert [len(each.matrix) for each in made] == [1, 4, 5]  # ln(size)/2, at most 5
    projection = made[1]
    assert projection.matrix.dtype == np.int64
    unit = projection.unit(domain)
    products = projection.matrix @ projection.matrix.T / unit**2
    assert np.allclose(products, np.eye(4), atol=1e-4)
    radius = domain.limit * (1 if ball else math.sqrt(d))
    assert projection.half / unit == pytest.approx(1.5 * radius * math.sqrt(4 / d), rel=1e-6)
    small = _projection(line(3), size=10**6, growth=0.5, dimensions=None, rng=public_rng(1))
    assert (small.matrix == np.eye(3) * small.unit(line(3))).all()  # few columns are only scaled


# --- the budget -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [{}, {"final_round": False}, {"averages": "noisy-avg"}, {"bound": "exact"}])
@pytest.mark.parametrize("d", [2, 6, 40])
@pytest.mark.parametrize("n", [0, 300])
def test_the_total_is_the_stated_formula(curator_of, own, d, n):
    epsilon = Fraction(7, 3)
    rows = np.random.default_rng(d).uniform(-1, 1, (n, d))
    curator = curator_of(rows, epsilon=epsilon, delta=DELTA, seed=3)
    outcome = max_cover(curator, k=3, epsilon=epsilon, delta=DELTA, public_rng=public_rng(1), **own)
    notes = outcome.notes
    rate, log = notes["epsilon_E"] / 2, math.log(1 / notes["delta_E"])
    picks = max(rate, math.expm1(rate) * log)
    if own.get("bound") == "exact":
        picks = max(rate, math.expm1(rate) * (math.log(-math.expm1(-rate)) + log) - rate)
    parts = [notes[f"epsilon_{each}"] for each in ("n", "L", "G", "Lloyd")]
    assert sum(parts) + picks == pytest.approx(float(epsilon), rel=1e-9)
    assert notes["epsilon_picks"] == pytest.approx(picks, rel=1e-9)
    assert sum(notes[f"delta_{each}"] for each in ("E", "G", "Lloyd")) == pytest.approx(float(DELTA), rel=1e-12)
    printed = sum(parts) + math.e * notes["epsilon_E"] * log / 2
    assert notes["epsilon_as_printed"] == pytest.approx(printed, rel=1e-9)
    assert printed > float(epsilon)  # the printed theorem charges more for the same noise
    opened = curator._reserve.opened
    assert opened.within(Cost(epsilon, DELTA))
    assert opened.delta == DELTA
    assert float(epsilon - opened.epsilon) < 1e-4  # Gaussian calibration rounds down
    assert curator._reserve.remaining == ()
    assert outcome.centres.shape == (3, d)
    assert np.abs(outcome.centres).max() <= curator.domain.limit


def test_few_columns_take_laplace_noise_and_many_take_gaussian():
    few, many = (
        share_out(Fraction(1), DELTA, k=3, domain=line(d), averages="sums", final_round=True, bound="stated")
        for d in (2, 100)
    )
    assert few.picks.delta == DELTA
    assert many.picks.delta == DELTA / 2
    assert [mean.norm for mean in (*few.means, *many.means)] == ["l1", "l1", "l2", "l2"]


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("epsilon", ["0.000008", "0.000015", "0.0001"])
def test_what_is_paid_for_can_be_drawn_however_small_epsilon_is(neighbours, epsilon):
    domain = line(300)
    shares = share_out(
        Fraction(epsilon),
        Fraction(1, 10**20),
        k=2,
        domain=domain,
        neighbours=neighbours,
        averages="sums",
        final_round=True,
        bound="exact",
    )
    for each in shares.means:
        asked = ResidualSums(domain, np.zeros((2, 300)), 1.0, norm=each.norm)
        each.sums.check(asked.sensitivity(neighbours))


def test_exactly_the_planned_number_of_points_is_picked_without_any_rows(curator_of):
    curator = curator_of(np.empty((0, 3)), epsilon=Fraction(1), delta=DELTA, seed=1)
    outcome = max_cover(curator, k=4, epsilon=Fraction(1), delta=DELTA, public_rng=public_rng(0), growth=0.3)
    assert outcome.notes["picks"] == outcome.notes["radii"] * 8


@pytest.mark.parametrize("bounds", [(-1, 1), Ball(1.0)], ids=["box", "ball"])
@pytest.mark.parametrize("epsilon", [1e-6, 1e4])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_every_epsilon_and_dimension_works(bounds, epsilon, d):
    rows = np.random.default_rng(d).normal(0, 0.3, (200, d))
    made = fit(rows, k=4, epsilon=epsilon, delta=1e-6, bounds=bounds, algorithm="max-cover", random_state=1)
    assert np.isfinite(np.array(made.centres)).all()
    assert np.abs(made.centres).max() <= 1


@pytest.mark.parametrize(
    "own",
    [{"growth": 0}, {"growth": 2.0}, {"dimensions": 0}, {"averages": "mean"}, {"final_round": 1}, {"bound": "best"}],
)
def test_wrong_parameters_are_refused_before_anything_is_paid(curator_of, own):
    paid = []
    curator = curator_of(np.zeros((5, 2)), epsilon=Fraction(1), delta=DELTA, charge=lambda: paid.append(1))
    with pytest.raises(ParameterError, match=next(iter(own))):
        find("max-cover").outcome(
            curator, {"k": 2, "epsilon": Fraction(1), "delta": DELTA, "public_rng": public_rng(0)}, own
        )
    assert paid == []
    wide = curator_of(np.zeros((5, 9)), epsilon=Fraction(1), delta=DELTA, charge=lambda: paid.append(1))
    for fine in ({"growth": 0.1}, {"growth": 0.5, "dimensions": 9}):
        with pytest.raises(ParameterError, match="grid points"):
            max_cover(wide, k=2, epsilon=Fraction(1), delta=DELTA, public_rng=public_rng(0), **fine)
    assert paid == []


def test_only_with_a_delta_and_printed_averages_only_for_add_remove():
    asked = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "max-cover", "dataset": "data"}
    book = Ledger.memory(epsilon=10, delta=0.5)
    with pytest.raises(ParameterError, match="delta"):
        fit(np.zeros((5, 2)), **asked, ledger=book)
    book = Ledger.memory(epsilon=10, delta=0.5, neighbours="replace-one")
    with pytest.raises(ParameterError, match=r"^averages: 'noisy-avg' is proven for add-remove only"):
        fit(
            np.zeros((5, 2)),
            **asked,
            delta=1e-6,
            ledger=book,
            neighbours="replace-one",
            algorithm_params={"averages": "noisy-avg"},
        )
    assert book.datasets()["data"].spent.epsilon == 0


@pytest.mark.parametrize("bound", ["stated", "exact"])
@pytest.mark.parametrize("rate", [0.05, 0.5, 1.7])
def test_all_picks_together_cost_what_is_charged_where_a_row_is_replaced(rate, bound):
    """By enumeration of all sequences: a row in one place against a row in another, both ways."""
    picks = {"rate": rate, "halves": (4, 2), "reach": 0, "picks": 2}
    worst = 0.0
    for rows, one, other in (([], 0, 2), ([1, 1], 1, -4), ([2, -3, -3, -3], 2, -3), ([0] * 3, 4, 0)):
        first, second = joint_law([*rows, one], **picks), joint_law([*rows, other], **picks)
        for delta in (0.3, 0.05, 1e-3):
            epsilon = float(cost_of(Fraction(str(2 * rate)), Fraction(str(delta)), bound, REPLACE))
            worst = max(
                worst, hockey_stick(first, second, epsilon) / delta, hockey_stick(second, first, epsilon) / delta
            )
    assert worst <= 1


def test_the_price_of_adding_would_be_too_low_where_a_row_is_replaced():
    """Eight picks from three points, one row at either end: beyond what the exact price of add-remove allows."""
    picks = {"rate": 0.08, "halves": (1,), "reach": 0, "picks": 8}
    first, second = joint_law([-1], **picks), joint_law([1], **picks)
    epsilon, delta = Fraction(16, 100), Fraction(1, 100)
    assert hockey_stick(first, second, float(cost_of(epsilon, delta, "exact"))) > 1.05 * float(delta)
    assert hockey_stick(first, second, float(cost_of(epsilon, delta, "exact", REPLACE))) < float(delta)


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 3), Fraction(3), Fraction(40)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 3)])
def test_the_cost_of_replacing_is_the_formula_and_less_than_two_steps(epsilon, delta):
    rate, log = float(epsilon) / 2, math.log(1 / float(delta))
    stated = rate + max(rate, math.expm1(rate) * (log + rate))
    exact = rate + max(rate, math.expm1(rate) * (math.log(-math.expm1(-rate)) + log + rate) - rate)
    assert float(cost_of(epsilon, delta, "stated", REPLACE)) == pytest.approx(stated, rel=1e-9)
    assert float(cost_of(epsilon, delta, "exact", REPLACE)) == pytest.approx(exact, rel=1e-9)
    assert cost_of(epsilon, delta, "stated", REPLACE) > cost_of(epsilon, delta)
    for bound in ("stated", "exact"):
        picks = CoverPicks.within(epsilon=epsilon, delta=delta, bound=bound, neighbours=REPLACE)
        assert epsilon * Fraction(999999, 1000000) < picks.event().epsilon <= epsilon
        once = cost_of(picks.epsilon, delta / 10**6, bound)
        assert picks.event().epsilon < 2 * once, "group privacy asks for twice, at a far smaller delta"


@pytest.mark.parametrize("n", [0, 1, 200])
def test_all_of_the_budget_is_planned_where_a_row_is_replaced(curator_of, n):
    rows = np.random.default_rng(n).uniform(-1, 1, (n, 2))
    epsilon, delta = Fraction(7, 3), Fraction(1, 10**6)
    curator = curator_of(rows, neighbours=REPLACE, epsilon=epsilon, delta=delta, seed=4)
    outcome = max_cover(curator, k=2, epsilon=epsilon, delta=delta, public_rng=public_rng(1))
    assert curator._reserve.opened.epsilon <= epsilon
    assert curator._reserve.opened.epsilon > epsilon * Fraction(999, 1000)
    assert curator._reserve.opened.delta <= delta
    assert curator._reserve.remaining == ()
    assert outcome.centres.shape == (2, 2)
    assert "epsilon_as_printed" not in outcome.notes, "the printed argument is of adding a row"


@pytest.mark.parametrize("own", [{}, {"averages": "noisy-avg"}, {"growth": 0.5}, {"bound": "exact"}])
def test_clear_clusters_are_found_at_a_generous_epsilon(blobs, own):
    middles = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
    made = fit(
        blobs, k=3, epsilon=100, delta=1e-4, bounds=(-1, 1), algorithm="max-cover", algorithm_params=own, random_state=2
    )
    gaps = np.linalg.norm(np.array(made.centres)[:, None] - middles, axis=2)
    assert gaps.min(axis=0).max() < 0.1
    assert sum(made.sizes) == pytest.approx(600, abs=60)


# --- NOISY-AVG --------------------------------------------------------------------------------------------------------


def averages_of(rows: np.ndarray, mechanism: NoisyAverages, seed: int = 0) -> tuple[np.ndarray, ResidualSums]:
    domain = line(2)
    query = ResidualSums(domain, np.zeros((1, 2)), 1.5 * domain.limit, with_counts=True)
    exact = np.zeros(query.size, dtype=np.int64)
    query.accumulate(np.rint(rows.T * domain.limit).astype(np.int32), exact)
    return mechanism.add(exact, query.sensitivity(Neighbours.ADD_REMOVE), SeededSource(seed)), query


@pytest.mark.parametrize("noise", [0, 1, 40])
def test_no_rows_and_a_noisy_size_of_zero_divide_nothing(noise, monkeypatch):
    """m = 0, and m̂ of exactly 0, 1 and more: zeros for m̂ <= 0 (not < 0), an average of nothing plus noise above."""
    mechanism = NoisyAverages(Fraction(1), DELTA, 1)
    monkeypatch.setattr(
        "covey.noise.noisy_average.discrete_laplace", lambda *_, **__: np.array([mechanism.offset + noise])
    )
    out, _ = averages_of(np.empty((0, 2)), mechanism)
    assert out[-1] == noise
    assert (out[:-1] == 0).all() == (noise == 0)


def test_noisy_avg_has_the_printed_scale():
    epsilon = Fraction(1, 2)
    mechanism = NoisyAverages(epsilon, DELTA, 1)
    assert mechanism.offset == math.ceil(10 * math.log(2e6))
    assert float(mechanism.multiplier) == pytest.approx(5 / 4 / 0.5 * math.sqrt(2 * math.log(3.5e6)), rel=1e-5)
    rows = np.full((5000, 2), 0.25)
    out, query = averages_of(rows, mechanism)
    known = int(out[-1])
    assert known == pytest.approx(5000 - mechanism.offset, abs=300)
    longest = query.clip.unit_limit
    sigma = math.sqrt(mechanism.variance(known, size=2, longest=longest)) / FINE / longest
    assert sigma == pytest.approx(2 * float(mechanism.multiplier) / known, rel=1e-3)
    mean = out[:-1] / FINE * query.clip.units[0] / query.domain.limit
    assert np.abs(mean - 0.25).max() < 6 * sigma * 1.5


def test_beyond_the_classical_range_noisy_avg_takes_the_analytic_gaussian():
    for epsilon in (Fraction(2), Fraction(30)):
        multiplier = float(NoisyAverages(epsilon, DELTA, 1).multiplier)
        part = float(epsilon) * 4 / 5
        assert gaussian_delta(multiplier, part) <= 1e-6 / 2.8
        assert gaussian_delta(multiplier * 0.99, part) > 1e-6 / 2.8
    with pytest.raises(ParameterError, match="epsilon"):
        NoisyAverages(Fraction(1, 10**6), DELTA, 1)

"""Who counts, and how much of each person: samples, people, zones, levels. Quick checks that planted bugs fail."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.amplify import amplified
from covey.budget.accounting.groups import row_cost
from covey.budget.accounting.plan import Reserve
from covey.budget.accounting.promise import Kind, Promise
from covey.errors import ParameterError
from covey.events import Sensitivity
from covey.fit import fit as fitting
from covey.fit.cap import CAPS, _noisy_people
from covey.fit.fit import fit
from covey.fit.session import Session
from covey.fit.slider import fit_levels
from covey.fit.zones import keeping, read_zones
from covey.noise.chain import ChainedLaplace
from covey.noise.source import SeededSource
from covey.private.engines.memory import MemoryEngine
from covey.private.narrowed.cap import CappedTable
from covey.private.narrowed.sample import SampledTable
from covey.private.tables.frames import ArrayTable, open_table
from covey.public import Box, Neighbours, Person, resolve_bounds
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid
from covey.queries.projection import Projection
from covey.queries.tree import Nodes, Tree, TreeLeaves
from covey.queries.voronoi import VoronoiSums
from covey.queries.zoned import ByZone, OfImages, ZonedCells, ZonedLeaves

BOX = Box(x=(-1, 1), y=(-1, 1))
DOMAIN = resolve_bounds(BOX, names=("x", "y"), width=2)
ROWS = np.random.default_rng(0).uniform(-1, 1, (400, 2))
ZONE = [(Box(x=(0, 1), y=(0, 1)), 0.2)]


def frame(rows, ids=None) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=["x", "y"])
    return made if ids is None else made.assign(id=ids)


def read(table) -> np.ndarray:
    pieces = [piece() for piece in table.pieces(None)]
    return np.concatenate(pieces, axis=1) if pieces else np.empty((table.width, 0))


def test_who_is_in_a_sample_does_not_depend_on_values():
    """The same coins, other values: the same places are kept."""
    places = []
    for sign in (1, -1):
        rows = np.column_stack([np.arange(400.0), sign * ROWS[:, 0]])
        for turn in (rows, rows * [1, 5]):
            table = SampledTable.poisson(ArrayTable(turn), rate=Fraction(1, 3), source=SeededSource(1))
            places.append(read(table)[0].tolist())
    assert all(each == places[0] for each in places)
    assert 80 < len(places[0]) < 190


def test_rows_next_to_one_another_have_coins_of_their_own():
    """Of neighbours in a table both are kept in a ninth of all cases, and either alone in four."""
    both = alone = 0
    for seed in range(40):
        table = SampledTable.poisson(
            ArrayTable(np.arange(200.0)[:, None]), rate=Fraction(1, 3), source=SeededSource(seed)
        )
        kept = np.zeros(200, dtype=bool)
        kept[read(table)[0].astype(int)] = True
        both += int((kept[::2] & kept[1::2]).sum())
        alone += int((kept[::2] ^ kept[1::2]).sum())
    assert abs(both / 4000 - 1 / 9) < 0.03
    assert abs(alone / 4000 - 4 / 9) < 0.04


def test_the_rate_of_a_sample_follows_from_a_noisy_number():
    asked = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "lloyd", "sample": 50}
    said = [fit(ROWS, **asked, random_state=seed).certificate.parameters["sample"] for seed in range(8)]
    assert len({each["rows_noisy"] for each in said}) > 3
    assert len({each["rate"] for each in said}) > 3


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("sample", [0.2, 80])
def test_what_is_spent_on_a_sample_amplifies_to_what_was_named(monkeypatch, neighbours, sample):
    """What the reserve really holds, amplified by the rate that the certificate tells, is within epsilon."""
    reserves = []

    class Watched(Session):
        def door(self, table, domain, reserve, **more):
            reserves.append(reserve.promise.cost)
            return super().door(table, domain, reserve, **more)

    monkeypatch.setattr(fitting, "Session", Watched)
    asked = {"k": 2, "epsilon": 1.0, "bounds": (-1, 1), "algorithm": "lloyd", "random_state": 1}
    release = fit(ROWS, **asked, sample=sample, neighbours=neighbours)
    notes = release.certificate.parameters["sample"]
    assert notes["kind"] == ("poisson" if neighbours == "add-remove" else "without replacement")
    rate = Fraction(notes["rate"]) if neighbours == "add-remove" else Fraction(notes["size"], notes["of"])
    whole = amplified(reserves[-1], rate=rate).epsilon + Fraction(str(notes.get("epsilon_of_rows", 0)))
    assert Fraction(99, 100) < whole <= 1 + Fraction(1, 10**6)


def kept_of(rows, ids, *, most, key=b"k" * 16) -> list[list[float]]:
    table = CappedTable(open_table(frame(rows, ids)), DOMAIN, "id", most=most, key=key)
    return sorted(np.concatenate([piece() for piece in table.pieces(("x", "y"))], axis=1).T.tolist())


def test_which_rows_of_a_person_count_is_decided_by_a_key():
    """Not by their order, and not by their values: another key, other rows; every row has its turn."""
    rows, ids = ROWS[:30], np.repeat(np.arange(3), 10)
    answers = [kept_of(rows, ids, most=2, key=bytes([i]) * 16) for i in range(40)]
    assert len({tuple(map(tuple, each)) for each in answers}) > 35
    seen = {tuple(row) for each in answers for row in each}
    assert len(seen) == 30
    assert kept_of(rows[::-1], ids[::-1], most=2) == kept_of(rows, ids, most=2)
    shares = [sum(sum(row in rows[:5].tolist() for row in each) for each in answers) / (2 * len(answers))]
    assert 0.25 < shares[0] < 0.75  # the first half of the first person's rows


def test_nobody_elses_rows_move_when_a_person_joins():
    rows, ids = ROWS[:60], np.repeat(np.arange(6), 10)
    before = kept_of(rows, ids, most=3)
    for person in (77, 2**40, -5):
        after = kept_of(np.concatenate([ROWS[60:70], rows]), np.append(np.full(10, person), ids), most=3)
        assert all(row in after for row in before)
        assert len(after) == len(before) + 3
    assert len(before) == 18


@pytest.mark.parametrize("rows", [2, 5, 40])
def test_rows_of_a_person_cost_no_more_than_the_person(rows):
    """Group privacy, added up row by row: delta·(1 + e^ε' + e^(2ε') + ...)."""
    for epsilon, delta in ((Fraction(1), Fraction(1, 10**6)), (Fraction(8), Fraction(1, 100))):
        each = row_cost(Cost(epsilon, delta), rows=rows)
        assert each.epsilon * rows == epsilon
        total = float(each.delta) * math.fsum(math.exp(float(each.epsilon) * i) for i in range(rows))
        assert float(delta) * 0.999 < total <= float(delta) * (1 + 1e-9)


@np.errstate(all="ignore")  # as every way to the rows has it
def test_the_choice_of_a_cap_is_noisy():
    table = open_table(frame(ROWS, np.repeat(np.arange(100), 4)))
    kind = Kind(unit="id")
    answers = set()
    for seed in range(8):
        given = {"promise": Promise.of(1, kind=kind), "zones": None, "purpose": "test", "fingerprint": "", "seed": seed}
        reserve = Reserve(Promise.of("0.1", kind=kind))
        answers.add(tuple(_noisy_people(table, "id", DOMAIN, reserve, Session(None, None, **given)).tolist()))
    assert len(answers) == 8
    assert all(len(each) == len(CAPS) + 1 for each in answers)


def test_people_and_zones_are_refused_where_rows_are_replaced():
    asked = {"k": 2, "epsilon": 1.0, "bounds": BOX, "algorithm": "lloyd", "neighbours": "replace-one"}
    with pytest.raises(ParameterError, match="add-remove"):
        fit(frame(ROWS, np.arange(400)), **asked, person="id", rows_per_person=2)
    with pytest.raises(ParameterError, match="add-remove"):
        fit(frame(ROWS), **asked, zones=ZONE)


@pytest.mark.parametrize(("zone", "whole"), [("0.1", "1"), ("1", "1.1"), ("0.001", "5"), ("2", "2")])
def test_a_zone_keeps_as_many_rows_as_its_epsilon_allows(zone, whole):
    """A row that is kept with probability q and then costs ε has lost ln(1 + q(e^ε - 1)): ε_zone, and not more."""
    q = keeping(Fraction(zone), Fraction(whole)) / 2**64
    lost = math.log1p(q * math.expm1(float(whole)))
    assert float(zone) * (1 - 1e-9) < lost <= float(zone) * (1 + 1e-12)


def test_rows_of_a_zone_are_kept_at_its_rate():
    thinning = read_zones(ZONE, epsilon=Fraction(1), domain=DOMAIN)
    inside = np.random.default_rng(1).uniform(0.1, 0.9, (20_000, 2))
    outside = -inside[:500]
    rows = thinning.table(open_table(frame(np.concatenate([inside, outside]))), SeededSource(2))
    kept = np.concatenate([piece() for piece in rows.pieces(("x", "y"))], axis=1)
    q = math.expm1(0.2) / math.expm1(1)
    assert (kept[0] < 0).sum() == 500
    assert np.array_equal(kept, np.concatenate([piece() for piece in rows.pieces(("x", "y"))], axis=1))
    assert abs((kept[0] > 0).sum() - 20_000 * q) < 5 * math.sqrt(20_000 * q * (1 - q))


def test_a_row_in_a_zone_is_one_row_until_it_is_noised():
    """Divided by its rate before the noise, it would be many."""
    regions = read_zones(ZONE, epsilon=Fraction(1), domain=DOMAIN).regions
    there = np.full((2, 1), DOMAIN.limit // 2, dtype=np.int32)
    centres = np.array([[0, 0], [DOMAIN.limit, DOMAIN.limit]])
    leaves = TreeLeaves(Tree(DOMAIN), Nodes(np.zeros(1), np.zeros(1)))
    by_leaf = ZonedLeaves(leaves, regions, np.ones((2, 1), dtype=np.bool_))
    image = Projection(np.array([[1, 1]]), np.zeros(2), np.array([2 * DOMAIN.limit]), DOMAIN)
    of_images = OfImages(TreeLeaves(Tree(image.target), Nodes(np.zeros(1), np.zeros(1))), image)
    by_zone = [ByZone(each, regions) for each in (VoronoiSums(centres, DOMAIN), of_images)]
    for query in (ZonedCells.of(DOMAIN, 4, regions), by_leaf, *by_zone):
        out = np.zeros(query.size, dtype=np.int64)
        query.accumulate(there, out)
        assert 0 < np.abs(out).sum() <= query.sensitivity(Neighbours.ADD_REMOVE).l1


@pytest.mark.parametrize("algorithm", ["grid", "lloyd"])
def test_kept_rows_are_divided_by_the_rate_of_their_own_zone(algorithm):
    zones = [(Box(x=(0, 1), y=(-1, 1)), 0.5), (Box(x=(-1, 0), y=(-1, 0)), 1.2)]
    rows = np.concatenate([ROWS] * 20)
    release = fit(
        frame(rows), k=1, epsilon=2.0, bounds=BOX, algorithm=algorithm, zones=zones, random_state=1, errors="none"
    )
    assert release.sizes[0] == pytest.approx(len(rows), rel=0.15)


def test_people_are_counted_up_by_their_own_zone_and_not_by_where_their_rows_are():
    """Everybody has a row in the zone and two in none: by where rows are, these would count q times."""
    thinning = read_zones(ZONE, epsilon=Fraction(1), domain=DOMAIN)
    assert thinning.known(Person(None, 1)).together is None
    assert thinning.known(Person("id", 3)).together == 3
    places, ids = [[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5]], np.repeat(np.arange(8_000), 3)
    asked = {"k": 1, "epsilon": 1.0, "bounds": BOX, "zones": ZONE, "algorithm": "grid", "random_state": 1}
    release = fit(frame(places * 8_000, ids), person="id", rows_per_person=3, errors="none", **asked)
    assert release.sizes[0] == pytest.approx(24_000, rel=0.2)


def test_rows_that_were_moved_have_no_zones():
    thinning = read_zones(ZONE, epsilon=Fraction(1), domain=DOMAIN)
    kind = Kind(Neighbours.ADD_REMOVE, None)
    session = Session(None, None, promise=Promise.of(1, kind=kind), zones=None, purpose="", fingerprint="", seed=1)
    known = thinning.known(Person(None, 1))
    curator = session.door(ArrayTable(ROWS), DOMAIN, session.reserve, zones=known)
    assert curator.zones is known
    assert curator.on_cells(Grid(DOMAIN, 4)).zones is None


def test_a_zone_is_never_looser_than_the_rest():
    for epsilon in (1.5, 100.0):
        with pytest.raises(ParameterError, match="zones are stricter"):
            fit(frame(ROWS), k=2, epsilon=1.0, bounds=BOX, algorithm="lloyd", zones=[(ZONE[0][0], epsilon)])


def test_levels_are_a_chain_and_each_has_its_own_scale():
    """Each level is Laplace noise of its own scale, and is often the same as the next: that is what a chain is."""
    epsilons = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
    one = Sensitivity(l1=1, l2_squared=1, linf=1, coordinates=1)
    levels = ChainedLaplace(epsilons).add_chain(np.zeros(40_000, dtype=np.int64), one, SeededSource(3))
    for epsilon, noise in zip(epsilons, levels, strict=True):
        q = math.exp(-float(epsilon))
        assert abs(np.square(noise).mean() / (2 * q / (1 - q) ** 2) - 1) < 0.08
    for (wide, more), (narrow, less) in zip(
        zip(epsilons, levels, strict=True), zip(epsilons[1:], levels[1:], strict=False), strict=False
    ):
        stay = (math.sinh(float(wide) / 2) / math.sinh(float(narrow) / 2)) ** 2
        q = math.exp(-float(wide))
        same = stay + (1 - stay) * (1 - q) / (1 + q)
        assert abs((more == less).mean() - same) < 0.015
        step = more - less
        assert abs(np.corrcoef(step, less)[0, 1]) < 0.03  # the step does not depend on the less private noise


def test_a_level_chosen_on_the_slider_promises_the_least_private():
    found = fit_levels(frame(ROWS), bounds=BOX, levels=[("low", 0.1), ("high", 1.0)], per_axis=8, random_state=1)
    assert found.certificate.epsilon == 1.0
    for chosen, epsilon in (("in advance", 0.1), ("on the slider", 1.0), ("with sight of raw data", 1.0)):
        for said in (found.release(0, 2, chosen=chosen).certificate, found.coreset(0, chosen=chosen).certificate):
            assert said.epsilon == epsilon
            assert said.seeded
            assert ("not covered" in said.parameters["choice"]) == (chosen == "with sight of raw data")


def test_rows_of_an_engine_are_the_capped_ones():
    """The cap comes before everything else: an engine never meets more rows of a person."""
    table = CappedTable(open_table(frame(ROWS, np.zeros(400, dtype=int))), DOMAIN, "id", most=7, key=b"k" * 16)
    assert sum(block.shape[1] for block in MemoryEngine(table, DOMAIN).rows()) == 7


def test_parts_of_streamed_rows_are_disjoint_and_stay_the_same(tmp_path):
    """Every row is in one part, in every pass over the file, and values decide nothing."""
    counts = []
    for sign in (1, -1):
        frame(sign * ROWS).to_parquet(tmp_path / "rows.parquet")
        engine = open_table(tmp_path / "rows.parquet").engine("files", DOMAIN)
        assert not isinstance(engine, MemoryEngine)
        parts = engine.split(3, SeededSource(1))
        cells = CellCounts(Grid(DOMAIN, 4))
        first, second = ([part.total(cells) for part in parts] for _ in range(2))
        assert all((a == b).all() for a, b in zip(first, second, strict=True))
        assert (sum(first) == engine.total(cells)).all()
        counts.append([int(each.sum()) for each in first])
    assert counts[0] == counts[1]
    assert min(counts[0]) > 90

"""Adding coresets: which promise the sum carries, what is refused, and streams of batches."""

from fractions import Fraction

import msgspec
import numpy as np
import pytest

from covey import Box, Certificate, Coreset, KMeans, Ledger, ParameterError
from covey.events import exactly
from covey.published.coreset.merge import CoresetStream, joint_certificate

DOMAIN = {"type": "box", "lower": [-1.0, -1.0], "upper": [1.0, 1.0]}


def certificate(**changes):
    fields = {
        "algorithm": "made-up",
        "parameters": {},
        "epsilon": 1.0,
        "delta": 0.0,
        "neighbours": "add-remove",
        "person": "one row",
        "domain": DOMAIN,
        "seeded": False,
        "covey": "0.1.0",
    }
    return Certificate(**{**fields, **changes})


def batch(seed, *, points=60, columns=("x", "y"), cells=False, spreads=None, **changes):
    rng = np.random.default_rng(seed)
    return Coreset(
        rng.uniform(-1, 1, (points, 2)),
        rng.laplace(2, 1, points),
        cells=np.full((points, 2), 0.1) if cells else None,
        spreads=None if spreads is None else np.full(points, spreads),
        columns=columns,
        certificate=certificate(**changes),
    )


def test_points_and_weights_stand_side_by_side():
    a, b = batch(1), batch(2)
    both = a + b
    assert len(both) == 120
    assert both.total == pytest.approx(a.total + b.total)
    sets = np.random.default_rng(0).uniform(-1, 1, (20, 3, 2))
    for objective in ("k-means", "k-median"):
        np.testing.assert_allclose(
            both.cost(sets, objective=objective), a.cost(sets, objective=objective) + b.cost(sets, objective=objective)
        )


def test_spreads_stand_side_by_side_and_one_that_is_not_known_counts_as_none():
    both = batch(1, spreads=0.2) + batch(2, spreads=0.3)
    assert both.spreads.tolist() == [0.2] * 60 + [0.3] * 60
    half = batch(1, spreads=0.2) + batch(2)
    assert half.spreads.tolist() == [0.2] * 60 + [0.0] * 60
    assert (batch(1) + batch(2)).spreads is None
    centres = [[0.1, 0.2]]
    assert half.cost(centres) == pytest.approx(batch(1, spreads=0.2).cost(centres) + batch(2).cost(centres))
    assert Coreset.stream([batch(i, spreads=0.2) for i in range(4)], 50).spreads.tolist() == [0.2] * 50


def test_a_point_without_a_cell_gets_one_of_no_width():
    both = batch(1, cells=True) + batch(2)
    assert both.cells[0].tolist() == [0.1, 0.1]
    assert both.cells[-1].tolist() == [0.0, 0.0]
    assert (batch(1) + batch(2)).cells is None


# --- the promise ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("disjoint", [True, False])
def test_a_merge_keeps_what_each_part_says_of_its_zones_and_its_level(disjoint):
    alone = {"choice": "level chosen without looking at the data"}
    zoned = {"zones": [{"name": "home", "epsilon": 0.2}, {"name": "as all others", "epsilon": 1.0}]}
    given = [zoned | alone, {"choice": "level chosen by looking at the slider"}, {}, alone]
    parts = [batch(i, parameters=each, dataset=f"part {i}") for i, each in enumerate(given)]
    one_by_one = parts[0].merge(parts[1], disjoint=disjoint)
    for each in parts[2:]:
        one_by_one = one_by_one.merge(each, disjoint=disjoint)
    by_twos = (
        parts[0]
        .merge(parts[1], disjoint=not disjoint)
        .merge(parts[2].merge(parts[3], disjoint=disjoint), disjoint=not disjoint)
    )
    for joint in (one_by_one, by_twos, one_by_one.reduce(20, random_state=1).kmeans(2, random_state=1)):
        statement = joint.certificate.statement
        assert "Part 1, 4 of 4, by itself: level chosen without looking at the data." in statement
        assert "Part 2 of 4, by itself: level chosen by looking at the slider." in statement
        assert "Part 1 of 4, by itself: rows in its zone are promised more: epsilon = 0.2;" in statement
        assert statement.count("Part ") == 3
    both = parts[0].merge(batch(9, parameters=alone), disjoint=disjoint).certificate
    assert "Each part of 2, by itself: level chosen without" in both.statement


@pytest.mark.parametrize(
    ("left", "right", "disjoint", "rule"),
    [
        ("north", "south", True, "largest"),
        ("north", "south", False, "sum"),
        ("north", "north", True, "sum"),
        ("north", None, True, "sum"),
        (None, "south", True, "sum"),
        (None, None, True, "sum"),
    ],
)
def test_the_largest_counts_only_for_named_different_and_disjoint_sets(left, right, disjoint, rule):
    a = batch(1, epsilon=0.5, delta=1e-6, dataset=left)
    b = batch(2, epsilon=0.7, delta=1e-7, dataset=right)
    joint = a.merge(b, disjoint=disjoint).certificate
    assert joint.parameters["composition"] == rule
    expected = (0.7, 1e-6) if rule == "largest" else (1.2, 1.1e-6)
    assert (joint.epsilon, joint.delta) == pytest.approx(expected)
    assert ("disjoint" in joint.parameters) == (disjoint and rule == "sum")  # said, and why it was not counted
    assert [each.dataset for each in joint.parts] == [left, right]


def test_plus_never_assumes_that_people_are_apart():
    joint = (batch(1, dataset="north") + batch(2, dataset="south")).certificate
    assert joint.epsilon == 2
    assert "added up" in joint.statement


def test_sums_are_exact_and_never_rounded_down():
    rng = np.random.default_rng(0)
    for _ in range(200):
        one, two = (float(f"{x:.6g}") for x in rng.uniform(0.01, 3, 2))
        joint = joint_certificate(certificate(epsilon=one), certificate(epsilon=two, delta=1e-9), disjoint=False)
        assert exactly(joint.epsilon) >= exactly(one) + exactly(two)
        assert exactly(joint.epsilon) - exactly(one) - exactly(two) < Fraction(1, 10**14)
    tenth = joint_certificate(certificate(epsilon=0.1), certificate(epsilon=0.2), disjoint=False)
    assert tenth.epsilon == 0.3  # not 0.30000000000000004


def test_a_sum_of_sums_is_one_list_and_rules_may_be_mixed():
    a, b, c, d = (batch(i, dataset=f"d{i}", epsilon=1 + i / 10) for i in range(4))
    chain = a + b + c
    assert len(chain.certificate.parts) == 3
    assert chain.certificate.epsilon == pytest.approx(3.3)
    apart = a.merge(b, disjoint=True).merge(c, disjoint=True)
    assert len(apart.certificate.parts) == 3
    assert apart.certificate.epsilon == 1.2
    mixed = a.merge(b, disjoint=True).merge(c + d, disjoint=True).certificate
    assert mixed.epsilon == pytest.approx(2.5)  # c and d may share people
    assert [each.dataset for each in mixed.leaves()] == ["d0", "d1", "d2", "d3"]
    again = batch(9, dataset="d2")
    assert mixed.parts is not None
    assert (a.merge(c, disjoint=True)).merge(again, disjoint=True).certificate.parameters["composition"] == "sum"


def test_a_seeded_part_makes_the_whole_seeded():
    joint = batch(1).merge(batch(2, seeded=True)).certificate
    assert joint.seeded
    assert joint.statement.startswith("SEEDED: NOT PRIVATE")


def test_the_statement_knows_ledgers_and_parts():
    counted = (batch(1, receipt="ab") + batch(2, receipt="ab")).certificate.statement
    assert "nobody has counted" not in counted
    assert "joins 2 releases" in counted
    assert "nobody has counted" in (batch(1, receipt="ab") + batch(2)).certificate.statement
    apart = batch(1, dataset="a").merge(batch(2, dataset="b"), disjoint=True).certificate.statement
    assert "nobody is in more than one of them" in apart


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (batch(2, columns=("x", "z")), "columns x, z"),
        (batch(2, columns=("y", "x")), "columns y, x"),
        (batch(2, domain=DOMAIN | {"upper": [1.0, 2.0]}), "domain.*same bounds"),
        (batch(2, neighbours="replace-one"), "neighbours"),
        (batch(2, person="all rows with the same 'id', of which at most 3 count"), "person"),
        (batch(2, epsilon=9999.5), "promise nothing"),
        (batch(2, delta=0.9), "promise nothing"),
    ],
)
def test_what_cannot_be_added_is_refused_with_a_reason(other, what):
    with pytest.raises(ParameterError, match=f"other: .*{what}"):
        batch(1, delta=0.2).merge(other)


def test_nothing_is_counted_twice():
    a, b = batch(1), batch(2)
    small = a.reduce(10, random_state=0)
    for one, two in ((a, a), (a, small), (small, a), (a + b, a), (a + b, b.reduce(5)), (a + b, a + b)):
        with pytest.raises(ParameterError, match="count twice"):
            one.merge(two)


def test_two_loads_of_one_file_are_one_release(tmp_path):
    for name in ("a.json", "a.parquet"):
        batch(1).save(tmp_path / name)
    with pytest.raises(ParameterError, match="count twice"):
        Coreset.load(tmp_path / "a.json") + Coreset.load(tmp_path / "a.parquet")


def test_only_coresets_can_be_added():
    with pytest.raises(TypeError):
        batch(1) + 3
    with pytest.raises(ParameterError, match="other"):
        batch(1).merge([[0.0, 0.0]])
    with pytest.raises(ParameterError, match="disjoint"):
        batch(1).merge(batch(2), disjoint="yes")


def test_real_releases_of_two_towns():
    rng = np.random.default_rng(3)
    book = Ledger.memory(dataset="north", epsilon=1)
    book.add("south", epsilon=1)
    towns = []
    for name, middle in (("north", 0.5), ("south", -0.5)):
        model = KMeans(
            2,
            epsilon=1.0,
            bounds=Box(x=(-1, 1), y=(-1, 1)),
            algorithm="grid",
            algorithm_params={"keep_synopsis": True},
            ledger=book,
            dataset=name,
            random_state=4,
        )
        towns.append(Coreset.of(model.fit(rng.normal([0, middle], 0.1, (5_000, 2))).release_))
    both = towns[0].merge(towns[1], disjoint=True)
    assert both.certificate.epsilon == 1.0
    assert both.total == pytest.approx(10_000, abs=600)
    centres = np.array(both.kmedian(2, random_state=0).centres)
    assert sorted(centres[:, 1]) == pytest.approx([-0.5, 0.5], abs=0.1)


# --- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 33])
def test_a_stream_is_one_coreset_of_bounded_size(count):
    batches = [batch(i, points=200, dataset=f"day {i}", epsilon=0.5) for i in range(count)]
    joined = Coreset.stream(batches, 120, disjoint=True, random_state=5)
    assert len(joined) <= 120
    assert joined.total == pytest.approx(sum(each.total for each in batches))
    assert joined.certificate.epsilon == 0.5
    assert len(joined.certificate.leaves()) == count
    assert len(joined.origins) == count
    sets = np.random.default_rng(1).uniform(-1, 1, (100, 3, 2))
    exact = sum(each.cost(sets, objective="k-median") for each in batches)
    assert np.abs(joined.cost(sets, objective="k-median") / exact - 1).mean() < 0.08
    assert np.array_equal(joined.points, Coreset.stream(batches, 120, disjoint=True, random_state=5).points)


def test_a_stream_without_disjoint_adds_up():
    batches = [batch(i, dataset=f"day {i}", epsilon=0.1) for i in range(9)]
    assert Coreset.stream(batches, 50).certificate.epsilon == pytest.approx(0.9)


def test_a_stream_can_be_looked_at_and_go_on():
    stream = CoresetStream(50)
    with pytest.raises(ParameterError, match="empty stream"):
        stream.result()
    totals = 0.0
    for i in range(6):
        stream.add(batch(i))
        totals += batch(i).total
        assert stream.result().total == pytest.approx(totals)


def test_what_a_stream_refuses_leaves_it_as_it_was():
    stream = CoresetStream(50)
    for i in range(3):
        stream.add(batch(i))
    before = stream.result().total
    for bad in (batch(0), batch(1), batch(7, columns=("a", "b")), "a batch"):
        with pytest.raises(ParameterError):
            stream.add(bad)
    assert stream.result().total == pytest.approx(before)
    with pytest.raises(ParameterError, match="m:"):
        CoresetStream(1)


def test_a_long_chain_of_parts_can_be_saved(tmp_path):
    whole = batch(0, points=3)
    for i in range(1, 300):
        whole = whole + batch(i, points=3, epsilon=0.1)
    whole.save(tmp_path / "long.json")
    assert Coreset.load(tmp_path / "long.json") == whole
    assert msgspec.json.decode((tmp_path / "long.json").read_bytes())["certificate"]["algorithm"] == "merge"

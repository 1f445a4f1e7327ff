"""Privacy levels: one charge, each level from its own counts alone, honest certificates, files, zones, edges."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import covey
from covey import Box, BudgetError, FormatError, Ledger, LedgerError, ParameterError, Release
from covey.budget.accounting.accountant import Cost
from covey.budget.accounting.plan import Plan, Reserve
from covey.budget.accounting.promise import Promise
from covey.cli.demo import BOX, make_city
from covey.fit.rehearse import rehearse_level
from covey.fit.slider import USUAL_LEVELS, Cancelled, Level, LevelSet, fine_side, fit_levels, price
from covey.noise.chain import ChainedLaplace
from covey.noise.source import SeededSource
from covey.post.tails import tail
from covey.private.curator import Curator
from covey.private.engines.memory import MemoryEngine
from covey.private.tables.frames import ArrayTable
from covey.public import resolve_bounds
from covey.published.levels.words import CHOICES, NOT_COVERED, weaker
from covey.queries.counts import CellCounts
from covey.queries.grid import Grid

BOUNDS = Box((-1, 1), (-1, 1))
PLACES = np.array([[-0.6, -0.5], [0.5, -0.4], [0.1, 0.6]])
HOME = [(Box((-0.75, -0.45), (-0.65, -0.35)), 0.3)]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(place, 0.05, (20_000, 2)) for place in PLACES])


@pytest.fixture(scope="module")
def levels(rows):
    return fit_levels(rows, bounds=BOUNDS, random_state=1)


def nearest_places(centres):
    return np.sqrt(np.square(np.array(centres)[:, None] - PLACES).sum(axis=2)).min(axis=0)


def test_every_level_finds_the_places(levels):
    for i in range(len(levels.levels)):
        for objective in ("k-means", "k-median"):
            release = levels.release(i, 3, objective=objective)
            assert (nearest_places(release.centres) < 0.05).all()
            assert sum(release.sizes) == pytest.approx(60_000, rel=0.2)
    assert np.allclose(levels.release(4, 3).sizes, 20_000, rtol=0.02)


def test_more_private_levels_show_less(levels):
    numbers = [levels.expected(i) for i in range(5)]
    values = [each["smallest_that_stands_out"] for each in numbers]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1]
    widths = [np.ptp(levels.known(i, 3).errors.sizes, axis=1).mean() for i in range(5)]
    assert widths[0] > 3 * widths[4] > 0
    assert numbers[0]["points"] < numbers[4]["points"]
    assert numbers[4]["rows_noisy"] == pytest.approx(60_000, rel=0.05)
    assert numbers[0]["cell_size"] >= numbers[4]["cell_size"] >= numbers[4]["finest_cell"]


def test_a_coreset_is_in_the_units_of_the_data_and_can_be_asked(rows):
    wide = fit_levels(rows * 50 + 7, bounds=Box((-43, 57), (-43, 57)), random_state=1)
    coreset = wide.coreset(4)
    assert coreset.total == pytest.approx(60_000, rel=0.02)
    assert (coreset.weights < 0).any()  # noise of either sign cancels
    assert coreset.count(Box((-43, 7), (-43, 7))) == pytest.approx(20_000, rel=0.03)
    cost = coreset.cost(PLACES * 50 + 7)
    true = np.square(rows[:, None] - PLACES).sum(axis=2).min(axis=1).sum()
    assert cost == pytest.approx(true, rel=0.15)


# --- one level at a time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", range(5))
def test_a_level_chosen_in_advance_looks_at_no_other_level(levels, level):
    """With all other levels' counts replaced by rubbish, everything that it publishes stays the same."""
    rng = np.random.default_rng(2)
    rubbish = tuple(
        each if i == level else rng.integers(-(10**6), 10**6, len(each)) for i, each in enumerate(levels.counts)
    )
    other = replace(levels, counts=rubbish, _known={})
    own = replace(levels, _known={})
    assert other.coreset(level, chosen="in advance") == own.coreset(level, chosen="in advance")
    assert other.expected(level) == own.expected(level)
    assert other.meaning(level) == own.meaning(level)
    for objective in ("k-means", "k-median"):
        assert (
            other.release(level, 4, objective=objective, chosen="in advance").to_json()
            == own.release(level, 4, objective=objective, chosen="in advance").to_json()
        )


def test_with_zones_too(rows):
    levels = fit_levels(rows, bounds=BOUNDS, zones=HOME, random_state=1)
    other = replace(levels, counts=(levels.counts[0], *(each * 0 for each in levels.counts[1:])), _known={})
    alone = {"chosen": "in advance"}
    assert other.release(0, 3, **alone).to_json() == levels.release(0, 3, **alone).to_json()
    assert other.expected(0) == levels.expected(0)


def test_the_number_of_rows_and_the_counts_share_a_levels_epsilon(levels):
    """What a level alone costs: the number of rows, which all share, and its own counts."""
    for i, level in enumerate(levels.levels):
        assert levels.rows_epsilon + levels.strength(i) == Fraction(str(level.epsilon))
    assert 0 < levels.rows_epsilon < Fraction(1, 10)


@pytest.mark.parametrize("level", [0, 4])
def test_the_counts_of_a_level_have_the_noise_of_its_epsilon(level):
    """On no rows the counts are noise alone: 65,536 cells tell 10% more or less of it."""
    levels = fit_levels(np.empty((0, 2)), bounds=BOUNDS, per_axis=256, random_state=3)
    strength = float(levels.strength(level))
    expected = 1 / (2 * np.sinh(strength / 2) ** 2)
    found = np.square(levels.counts[level].astype(float)).mean()
    spread = np.sqrt(np.square(levels.counts[level].astype(float)).var() / 2**16)
    assert abs(found - expected) < 5 * spread
    for off in (0.9, 1.1):
        assert abs(found - expected * off**2) > 5 * spread


# --- what is promised -------------------------------------------------------------------------------------------------


def test_the_certificate_says_how_the_level_was_chosen(levels):
    alone, slider, raw = (levels.release(1, 3, chosen=chosen).certificate for chosen in CHOICES[:3])
    assert (alone.epsilon, slider.epsilon, raw.epsilon) == (0.25, 2.0, 2.0)
    assert raw.parameters["choice"] == NOT_COVERED == "level chosen with sight of raw data: the choice is not covered"
    assert "the choice is not covered" in raw.statement
    assert "least private level shown" in slider.statement
    assert "whoever saw all levels saw epsilon = 2" in alone.statement
    assert {each.parameters["level"] for each in (alone, slider, raw)} == {"very private"}
    assert levels.coreset(1, chosen="on the slider").certificate.epsilon == 2.0
    assert levels.certificate.epsilon == levels.epsilon == price() == 2.0


def test_after_other_releases_the_certificate_states_the_sum_of_all(levels, rows):
    together = Cost(Fraction(7, 2), Fraction(1, 10**6))
    later = levels.release(1, 3, chosen="after other releases", together=together).certificate
    assert (later.epsilon, later.delta) == (3.5, 1e-6)
    assert "the sum of all of them" in later.statement
    raw = levels.release(1, 3, chosen="with sight of raw data", together=together).certificate
    assert (raw.epsilon, raw.parameters["choice"]) == (3.5, NOT_COVERED)
    for chosen, given in (("after other releases", None), ("in advance", together)):
        with pytest.raises(ParameterError, match="together"):
            levels.release(1, 3, chosen=chosen, together=given)
    zoned = fit_levels(rows, bounds=BOUNDS, zones=HOME, random_state=1)
    (zone,) = zoned.coreset(4, chosen="after other releases", together=together).certificate.parameters["zones"]
    assert zone["epsilon"] == pytest.approx(0.3 + 1.5), "others may have cost rows in zones as much as all rows"


def test_one_level_alone_that_was_chosen_in_advance_says_that_there_is_no_other(rows):
    alone = fit_levels(rows, bounds=BOUNDS, levels=[("balanced", 0.5)], random_state=1)
    assert alone.release(0, 3, chosen="in advance").certificate.epsilon == alone.epsilon == 0.5
    assert "no other level was made" in alone.release(0, 3, chosen="in advance").certificate.statement


def test_boxes_at_the_edge_can_be_left_out_of_the_centres_and_still_count():
    rng = np.random.default_rng(3)
    inside, outside = (
        rng.normal(0.4, 0.03, (4000, 2)),
        np.column_stack([np.full(2000, 9.0), rng.normal(0.5, 0.05, 2000)]),
    )
    levels = fit_levels(np.concatenate([inside, outside]), bounds=covey.Box((0, 1), (0, 1)), random_state=1)
    assert 0 < levels.at_edge(4).sum() < len(levels.boxes(4).points)
    with_edge, without = (np.array(levels.release(4, 2, edges=edges).centres) for edges in (True, False))
    assert with_edge[:, 0].max() > 0.95
    assert without[:, 0].max() < 0.7
    release = levels.release(4, 2, edges=False)
    assert release.certificate.parameters["edges"] is False
    assert sum(release.sizes) == pytest.approx(6000, rel=0.05), "sizes count every row"
    assert rehearse_level(levels, 4, 2, edges=False) is not None


def test_a_less_private_level_never_shows_less():
    """So many places that a level with few boxes would have to leave some out."""
    levels = fit_levels(make_city(200_000), bounds=BOX, random_state=1)
    told = [levels.expected(i) for i in range(len(USUAL_LEVELS))]
    assert all(a["points"] < b["points"] for a, b in pairwise(told))
    assert all(a["cell_size"] >= b["cell_size"] for a, b in pairwise(told))


def test_a_release_of_a_level_is_a_release(levels, tmp_path):
    release = levels.release(2, 4)
    release.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json") == release


def test_zones_are_promised_more_at_every_level(rows):
    levels = fit_levels(rows, bounds=BOUNDS, zones=HOME, random_state=1)
    rate = levels.certificate.parameters["zones"][0]["rate"]
    assert rate == pytest.approx(np.expm1(0.3) / np.expm1(2))
    for i, level in enumerate(levels.levels):
        (zone,) = levels.release(i, 3, chosen="in advance").certificate.parameters["zones"]
        assert zone["epsilon"] == pytest.approx(np.log1p(rate * np.expm1(level.epsilon)), rel=1e-6)
        assert zone["epsilon"] <= 0.3
    assert levels.release(0, 3, chosen="on the slider").certificate.parameters["zones"][0]["epsilon"] == 0.3


def test_counts_in_zones_are_divided_by_their_rate(rows):
    levels = fit_levels(rows, bounds=BOUNDS, zones=HOME, random_state=1)
    assert levels.zoned
    assert levels.rows_noisy == pytest.approx(40_000 + 20_000 * np.expm1(0.3) / np.expm1(2), rel=0.03)
    assert levels.expected(4)["rows_noisy"] == pytest.approx(60_000, rel=0.03)
    assert np.allclose(levels.release(4, 3).sizes, 20_000, rtol=0.1)
    assert (nearest_places(levels.release(3, 3).centres) < 0.05).all()


def test_what_a_row_in_a_zone_is_promised_is_rounded_up():
    assert weaker(0.5, 1.0) >= np.log1p(0.5 * np.expm1(1.0))
    assert weaker(0.5, 1.0) == pytest.approx(np.log1p(0.5 * np.expm1(1.0)))


# --- paying -----------------------------------------------------------------------------------------------------------


def remaining(ledger):
    return ledger.datasets()["d"].remaining.epsilon


def test_one_charge_of_the_least_private_level_before_a_row_is_read(rows, tmp_path):
    ledger = covey.Ledger.create(tmp_path / "ledger", dataset="d", epsilon=2)
    fit_levels(rows, bounds=BOUNDS, ledger=ledger, dataset="d")
    assert [each.kind for each in ledger.entries()].count("charge") == 1
    assert remaining(ledger) == 0
    with pytest.raises(BudgetError):
        fit_levels(rows, bounds=BOUNDS, ledger=ledger, dataset="d")


def test_a_chain_is_one_event_that_must_be_planned(rows):
    domain = resolve_bounds(BOUNDS, names=None, width=2)
    chain, query = ChainedLaplace((Fraction(1, 2), Fraction(1))), CellCounts(Grid(domain, 4))
    curator = Curator(
        MemoryEngine(ArrayTable(rows), domain),
        domain=domain,
        source=SeededSource(1),
        reserve=Reserve(Promise.of(Fraction(1))),
        charge=lambda: None,
    )
    with pytest.raises(BudgetError):
        curator.release_chain(query, chain)
    curator.reserve(Plan((chain.event(),)))
    more, less = curator.release_chain(query, chain)
    assert more.shape == less.shape == (16,)
    assert less.sum() == pytest.approx(len(rows), abs=60)
    with pytest.raises(BudgetError):
        curator.release_chain(query, chain)


def test_rows_are_read_after_the_charge_only(monkeypatch, rows, tmp_path):
    ledger = covey.Ledger.create(tmp_path / "ledger", dataset="d", epsilon=1)
    touched = []
    monkeypatch.setattr(ArrayTable, "pieces", lambda *_: touched.append(1) or iter(()))
    with pytest.raises(BudgetError):
        fit_levels(rows, bounds=BOUNDS, ledger=ledger, dataset="d")
    assert touched == []


def test_the_same_key_costs_nothing_and_gives_the_same_levels(rows, tmp_path):
    ledger = covey.Ledger.create(tmp_path / "ledger", dataset="d", epsilon=2).with_key("look")
    first = fit_levels(rows, bounds=BOUNDS, ledger=ledger, dataset="d")
    again = fit_levels(rows, bounds=BOUNDS, ledger=ledger, dataset="d")
    assert all(np.array_equal(a, b) for a, b in zip(first.counts, again.counts, strict=True))
    with pytest.raises(LedgerError):
        fit_levels(rows, bounds=BOUNDS, zones=HOME, ledger=ledger, dataset="d")


def test_progress_and_cancelling(rows, tmp_path):
    told = []
    fit_levels(rows, bounds=BOUNDS, progress=lambda *step: told.append(step))
    assert [step[0] for step in told] == [0, 1, 2]
    ledger = covey.Ledger.create(tmp_path / "ledger", dataset="d", epsilon=4)
    with pytest.raises(Cancelled):
        fit_levels(rows, bounds=BOUNDS, ledger=ledger, dataset="d", cancelled=lambda: True)
    assert remaining(ledger) == 4
    asked = []
    with pytest.raises(Cancelled, match="charged"):
        fit_levels(rows, bounds=BOUNDS, ledger=ledger, dataset="d", cancelled=lambda: asked.append(1) or len(asked) > 1)
    assert len(asked) == 2  # before the charge, and before the first piece of rows
    assert remaining(ledger) == 2


@pytest.mark.parametrize("zones", [None, HOME])
def test_watching_changes_nothing(rows, levels, zones):
    plain = fit_levels(rows, bounds=BOUNDS, zones=zones, random_state=1)
    watched = fit_levels(rows, bounds=BOUNDS, zones=zones, random_state=1, cancelled=lambda: False)
    assert all(np.array_equal(a, b) for a, b in zip(plain.counts, watched.counts, strict=True))


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zones", [None, HOME])
def test_levels_come_back_from_a_file(rows, tmp_path, zones):
    levels = fit_levels(rows, bounds=BOUNDS, zones=zones, random_state=1)
    levels.save(tmp_path / "levels.json")
    back = LevelSet.load(tmp_path / "levels.json")
    assert back.levels == levels.levels
    assert isinstance(back.levels[0], Level)
    for i in range(5):
        assert back.release(i, 3).to_json() == levels.release(i, 3).to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "covey-release"},
        {"version": 9},
        {"counts": []},
        {"counts": [[1, 2]] * 5},
        {"cells_per_axis": 3},
        {"cells_per_axis": -1},
        {"levels": [["a", 1.0]] * 5},
        {"rows_epsilon": "5"},
        {"rows_epsilon": "1/0"},
        {"rows_epsilon": "x"},
        {"half": [0.0, 1.0]},
        {"cells": [0], "rates": [1.0]},
        {"columns": ["a"]},
    ],
)
def test_a_damaged_file_is_refused(tmp_path, change):
    levels = fit_levels(np.zeros((10, 2)), bounds=BOUNDS, per_axis=2, random_state=1)
    levels.save(tmp_path / "levels.json")
    document = json.loads((tmp_path / "levels.json").read_text())
    (tmp_path / "levels.json").write_text(json.dumps(document | change))
    with pytest.raises(FormatError, match="levels"):
        LevelSet.load(tmp_path / "levels.json")


def test_no_file_and_no_json(tmp_path):
    with pytest.raises(FormatError):
        LevelSet.load(tmp_path / "none.json")
    (tmp_path / "text").write_text("levels")
    with pytest.raises(FormatError):
        LevelSet.load(tmp_path / "text")


# --- edges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_one_to_four_columns(d):
    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.normal(place, 0.05, (5_000, d)) for place in (-0.5, 0.5)])
    levels = fit_levels(rows, bounds=(-1, 1), random_state=1)
    centres = np.sort(np.array(levels.release(4, 2).centres)[:, 0])
    assert np.allclose(centres, [-0.5, 0.5], atol=0.1)
    assert levels.per_axis**d <= 2**16


def test_no_rows_is_a_normal_release():
    levels = fit_levels(np.empty((0, 2)), bounds=BOUNDS, random_state=1)
    for i in range(5):
        release = levels.release(i, 3)
        assert np.isfinite(release.centres).all()
        assert "factor" in levels.meaning(i)


def test_one_place_that_stands_out_is_not_said_to_be_nothing():
    """All rows in one cell; a level that is told of rows has a place for them, though there is no other."""
    rows = np.full((5000, 2), 0.295)
    tries = (fit_levels(rows, bounds=[(0, 1), (0, 1)], levels=[("a", 1.0)], random_state=i) for i in range(30))
    levels = next(each for each in tries if each.expected(0)["points"] == 1)
    words = levels.meaning(0)
    assert words.startswith("Only one place stands out, about 0.0")
    assert "noise alone" not in words
    assert "Nothing" not in words


def test_one_place_that_noise_alone_made_is_said_to_be_such():
    levels = fit_levels(np.empty((0, 2)), bounds=[(0, 1), (0, 1)], random_state=3)
    told = [
        levels.meaning(i) for i in range(5) if len(levels.boxes(i).counts) > 1 and levels.expected(i)["points"] == 1
    ]
    assert len(told) == 3
    assert all("and noise alone may have made it" in each for each in told)


def test_no_number_of_rows_is_told_below_none():
    asked = {"bounds": BOUNDS, "zones": HOME, "levels": [("a", 0.5)]}
    looks = (fit_levels(np.empty((0, 2)), random_state=i, **asked) for i in range(6))
    found = [(round(levels.rows(0)), levels.expected(0)["rows_noisy"]) for levels in looks]
    assert min(found)[0] < 0
    assert all(told == max(0, noisy) for noisy, told in found)


def test_with_zones_it_is_not_told_how_far_off_the_number_of_rows_is():
    """Of 10,000 rows in one cell of a zone hundreds are kept: their coins alone are off by more than all noise."""
    square = {"type": "Polygon", "coordinates": [[[0, 0], [0.5, 0], [0.5, 0.5], [0, 0.5], [0, 0]]]}
    zones = {"type": "Feature", "geometry": square, "properties": {"epsilon": 0.1}}
    bounds = {"lon": (0, 1), "lat": (0, 1)}
    rows = pd.DataFrame(np.full((10_000, 2), 0.3), columns=["lon", "lat"])
    levels = fit_levels(rows, bounds=bounds, zones=zones, levels=[("a", 2.0)], per_axis=4, random_state=1)
    assert levels.expected(0)["rows_error"] is None
    assert "rows, more in zones" in levels.meaning(0)


def test_columns_that_are_called_longitude_and_are_metres_are_not_told_in_degrees():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"lon": rng.normal(5e5, 1e3, 5000), "lat": rng.normal(4e6, 1e3, 5000)})
    bounds = {"lon": (490_000, 510_000), "lat": (3_990_000, 4_010_000)}
    words = fit_levels(rows, bounds=bounds, levels=[("a", 1.0)], random_state=1).meaning(0)
    assert words.startswith("Places about 620 by 620 in size")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_bad_rows_never_raise(value):
    rows = np.full((100, 2), value)
    assert fit_levels(rows, bounds=BOUNDS, zones=HOME, random_state=1).release(4, 2).sizes is not None


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("bounds", {"bounds": None}),
        ("bounds", {"data": np.zeros((3, 5)), "bounds": (-1, 1)}),
        ("levels", {"levels": []}),
        ("levels", {"levels": "private"}),
        ("levels", {"levels": [("a", 2.0), ("b", 1.0)]}),
        ("levels", {"levels": [("a", 1.0), ("a", 2.0)]}),
        ("levels", {"levels": [1.0, 2.0]}),
        ("epsilon", {"levels": [("a", -1.0)]}),
        ("per_axis", {"per_axis": 100}),
        ("per_axis", {"per_axis": 4096}),
        ("per_axis", {"per_axis": 0}),
        ("zones", {"zones": [(BOUNDS, 5.0)]}),
        ("engine", {"engine": "abacus"}),
        ("dataset", {"ledger": covey.Ledger.memory()}),
        ("random_state", {"random_state": "x"}),
    ],
)
def test_wrong_arguments_are_named(name, change):
    given = {"data": np.zeros((3, 2)), "bounds": BOUNDS} | change
    with pytest.raises(ParameterError, match=name):
        fit_levels(given.pop("data"), **given)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("level", lambda levels: levels.release(5, 3)),
        ("level", lambda levels: levels.coreset(-1)),
        ("k", lambda levels: levels.release(0, 0)),
        ("objective", lambda levels: levels.release(0, 3, objective="k-mode")),
        ("chosen", lambda levels: levels.release(0, 3, chosen="by heart")),
    ],
)
def test_wrong_questions_are_named(levels, name, call):
    with pytest.raises(ParameterError, match=name):
        call(levels)


def test_seeded_levels_repeat_and_say_so(rows, levels):
    again = fit_levels(rows, bounds=BOUNDS, random_state=1)
    assert again.release(3, 3).to_json() == levels.release(3, 3).to_json()
    assert levels.release(3, 3).certificate.seeded
    fresh = fit_levels(rows, bounds=BOUNDS)
    assert not fresh.release(3, 3).certificate.seeded
    assert not np.array_equal(fresh.counts[0], levels.counts[0])


def test_the_usual_levels_and_their_price():
    assert [level.name for level in USUAL_LEVELS][:: len(USUAL_LEVELS) - 1] == ["most private", "most detailed"]
    assert price([("a", 0.5), ("b", 0.75)]) == 0.75


def test_the_grid_follows_from_public_numbers_alone():
    domain = resolve_bounds(BOUNDS, names=None, width=2)
    assert fine_side(domain, rows=16, epsilon=0.1) == 2
    assert fine_side(domain, rows=10_000, epsilon=2.0) == 64
    assert fine_side(domain, rows=10**9, epsilon=2.0) == 256


@pytest.mark.parametrize(("strength", "share"), [(0.1, 0.05), (1.0, 0.05), (5.0, 0.01), (800.0, 0.05)])
def test_the_error_of_a_count_is_the_tail_of_its_noise(strength, share):
    t = tail(strength, share)

    def beyond(x):
        return 2 * np.exp(-strength * (x + 1)) / (1 + np.exp(-strength))

    assert beyond(t) <= share
    assert t == 0 or beyond(t - 1) > share


def test_texts_and_numbers_of_numpy_are_written_too_once_they_are_paid_for(rows):
    """A text of numpy is no JSON: the levels were charged, and then could not be stored."""
    who = pd.DataFrame(rows[:900], columns=["x", "y"]).assign(who=np.arange(900) // 3)
    asked = {"levels": [(np.str_("a"), np.float64(1.0))], "person": np.str_("who"), "rows_per_person": np.int64(2)}
    found = fit_levels(who, bounds={"x": (-1, 1), "y": (-1, 1)}, dataset=np.str_("d"), random_state=1, **asked)
    release = found.release(np.int64(0), np.int64(2), objective=np.str_("k-median"), chosen=np.str_("in advance"))
    assert Release.from_json(release.to_json()) == release
    assert release.certificate.dataset == "d"


def test_a_name_that_no_file_can_hold_is_refused_before_it_is_paid_for(tmp_path):
    rows = pd.DataFrame({"x": [0.1, 0.2], "\ud800": [1, 2]})
    asked = {"bounds": {"x": (0, 1)}, "dataset": "d"}
    book = Ledger.create(tmp_path / "ledger.db", dataset="d", epsilon=5)
    with pytest.raises(ParameterError, match="levels: have a name that is no valid text"):
        fit_levels(rows, levels=[("\ud800", 1.0)], ledger=book, **asked)
    people = Ledger.create(tmp_path / "people.db", dataset="d", epsilon=5, person="who")
    with pytest.raises(ParameterError, match="person: must be the name of a column"):
        fit_levels(rows, person="\ud800", ledger=people, **asked)
    assert book.datasets()["d"].spent.epsilon == people.datasets()["d"].spent.epsilon == 0


def test_the_size_of_a_cell_is_told_in_each_column_by_what_it_counts():
    """A column that counts little has no cells: its width was told of the others too, thirty times too small."""
    rows = np.random.default_rng(1).uniform(0, 1, (2000, 2))
    asked = {"bounds": [(0, 1), (0, 1)], "levels": [("a", 2.0)], "per_axis": 32, "random_state": 1}
    told = fit_levels(rows, scale=[0.001, 1.0], **asked).expected(0)
    assert told["finest_cell"] == pytest.approx([1.0, 1 / 32])
    assert told["cell_size"] == pytest.approx([1.0, 1 / 32])

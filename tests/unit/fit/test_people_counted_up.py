"""People whom zones kept as a whole, or not, are counted up by the zone that they were kept by, wherever a row is."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

from covey import Box, PrivateCoreset
from covey.algorithms import zoned
from covey.audit.tape import Tape
from covey.audit.watch import Watched
from covey.fit.fit import fit
from covey.fit.session import heard_by
from covey.private.narrowed.names import Names
from covey.published.zones import COUNTED_UP, KEPT

BOX = Box(lon=(-1, 1), lat=(-1, 1))
ZONES = [(Box(lon=(-1, 0), lat=(-1, 0)), 0.4), (Box(lon=(0, 1), lat=(-1, 0)), 1.0)]
HOME, WORK, PARK = (-0.5, -0.5), (0.5, -0.5), (0.0, 0.6)  # in either zone, and in none
PLACES = np.array([HOME, WORK, PARK])
PEOPLE = {  # the places of their rows, and how many they are
    (HOME, PARK): 16_000,  # at 0.08, wherever the row is
    (HOME, WORK): 4_000,  # at 0.08
    (WORK, PARK): 6_000,  # at 0.27
    (PARK, PARK): 9_000,
}
ROWS = [sum(many * kinds.count(place) for kinds, many in PEOPLE.items()) for place in (HOME, WORK, PARK)]
MANY = ("auto", "grid", "hybrid", "lloyd", "net-coreset", "ball-coreset")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    at = np.concatenate([np.repeat([places], many, axis=0) for places, many in PEOPLE.items()])
    who = np.repeat(np.arange(len(at)), 2)
    return pd.DataFrame(at.reshape(-1, 2) + rng.normal(0, 0.06, (len(who), 2)), columns=["lon", "lat"]).assign(who=who)


ASKED = {"epsilon": 2.0, "bounds": BOX, "person": "who", "rows_per_person": 2}


def in_order(release):
    centres = np.array(release.centres)
    order = np.square(PLACES[:, None] - centres).sum(axis=2).argmin(axis=1)
    return centres[order], np.array(release.sizes)[order], order


@pytest.mark.parametrize("algorithm", MANY)
def test_all_rows_count_by_the_zone_that_their_person_was_kept_by(people, algorithm):
    """By where a row is, the park would be short of 16,000 rows, and those of work who sleep at home of half."""
    release = fit(people, k=3, algorithm=algorithm, zones=ZONES, random_state=3, **ASKED)
    centres, sizes, _ = in_order(release)
    assert centres == pytest.approx(PLACES, abs=0.15)
    assert sizes == pytest.approx(ROWS, rel=0.3 if algorithm.endswith("coreset") else 0.15)
    assert release.certificate.parameters["zones_note"].endswith(COUNTED_UP)


@pytest.mark.parametrize("method", ["auto", "grid", "net", "ball"])
def test_weights_of_coresets_count_all_rows_of_people(people, method):
    made = PrivateCoreset(zones=ZONES, method=method, random_state=3, **ASKED).fit(people)
    for place, many in zip(PLACES, ROWS, strict=True):
        near = np.square(made.coreset_.points - place).sum(axis=1) < 0.25
        least = 0.3 if method == "ball" else 0.2  # of many balls, what noise explains in each is left out
        assert made.coreset_.weights[near].sum() == pytest.approx(many, rel=least)


def test_what_counts_kept_rows_of_people_says_so(people):
    release = fit(people[:4_000], k=3, algorithm="genetic", zones=ZONES, random_state=3, **ASKED)
    assert release.certificate.parameters["zones_note"].endswith(KEPT)
    assert release.errors is None


@pytest.mark.parametrize("algorithm", ["auto", "grid"])
def test_sizes_have_intervals_that_hold_the_coins_of_whole_people(people, algorithm):
    held = []
    for seed in range(12):
        release = fit(people, k=3, algorithm=algorithm, zones=ZONES, random_state=seed, **ASKED)
        assert release.errors.costs is None
        _, _, order = in_order(release)
        held += [low <= many <= high for (low, high), many in zip(release.size_intervals[order], ROWS, strict=True)]
    assert np.mean(held) >= 0.75  # of 36 that hold nine times in ten or more; and seeded


def test_what_is_asked_is_the_number_of_rows_of_each_cell_and_zone(people, monkeypatch):
    """Every coin keeps its person: then all of the exact numbers that noise is added to can be told by hand."""
    monkeypatch.setattr(Names, "coins", lambda *names: np.zeros(len(names[1]), dtype=np.uint64))
    some = people[::7]
    tape = Tape(seed=1)
    with heard_by(partial(Watched.over, tape=tape)):
        release = fit(some, k=3, algorithm="grid", zones=ZONES, random_state=1, **ASKED)
    side = release.certificate.parameters["cells_per_axis"]
    (step,) = [each for each in tape.steps if each.kind == "numbers" and np.shape(each.exact) == (3 * side**2,)]
    west, south = some.lon <= 0, some.lat <= 0
    own = np.where(west & south, 1, np.where(south, 2, 3))
    strictest = pd.Series(own, index=some.index).groupby(some.who).transform("min") % 3  # the strictest comes first
    cell = np.clip((some[["lon", "lat"]].to_numpy() + 1) / 2 * side, 0, side - 1).astype(int)
    expected = np.zeros((3, side, side), dtype=np.int64)
    np.add.at(expected, (strictest.to_numpy(), cell[:, 0], cell[:, 1]), 1)
    assert np.abs(step.exact.reshape(3, side, side) - expected).sum() <= 4  # rows within a lattice step of a border
    assert np.abs(step.exact).sum() == len(some)


@pytest.mark.parametrize("algorithm", ["auto", "grid", "lloyd"])
def test_a_zone_that_lets_nearly_nobody_through_does_not_draw_centres(people, algorithm):
    few = [(Box(lon=(-1, -0.8), lat=(-1, 1)), 1e-6)]
    for seed in range(4):
        found = fit(people, k=3, algorithm=algorithm, zones=few, random_state=seed, errors="none", **ASKED)
        away = np.square(PLACES[:, None] - np.array(found.centres)).sum(axis=2).min(axis=1)
        assert (np.array(found.centres)[:, 0] > -0.9).all()
        assert algorithm == "lloyd" or (away < 0.05).all()


CLOUDS = np.array([[-0.5, *[0.3] * 5], [0.5, *[-0.3] * 5]])  # in the zone, and in none


@pytest.fixture(scope="module")
def in_six_columns():
    """Those of the first cloud have a row in the zone, and half of their rows in the second."""
    rng = np.random.default_rng(1)
    rows = [rng.normal(CLOUDS[cloud], 0.1, (many, 6)) for cloud, many in ((0, 10_000), (1, 10_000), (1, 12_000))]
    who = np.concatenate([np.arange(10_000), np.arange(10_000), 10_000 + np.arange(12_000) // 2])
    return pd.DataFrame(np.concatenate(rows), columns=list("abcdef")).assign(who=who)


SIX = {
    "bounds": dict.fromkeys("abcdef", (-1, 1)),
    "zones": [(Box(a=(-1, 0)), 0.6)],
    "person": "who",
    "rows_per_person": 2,
    "random_state": 1,
}


@pytest.mark.parametrize("delta", [None, 1e-7])
def test_in_many_columns_auto_counts_all_rows_of_people(in_six_columns, delta):
    release = fit(in_six_columns, k=2, epsilon=2.0, delta=delta, **SIX)
    assert release.certificate.parameters["zones_note"].endswith(COUNTED_UP)
    order = np.square(CLOUDS[:, None] - np.array(release.centres)).sum(axis=2).argmin(axis=1)
    assert np.array(release.centres)[order] == pytest.approx(CLOUDS, abs=0.06)
    truth = np.array([10_000, 22_000])
    assert np.array(release.sizes)[order] == pytest.approx(truth, rel=0.25)
    low, high = release.size_intervals[order].T
    assert ((low < truth) & (truth < high)).all()


def test_of_weights_in_a_subspace_it_is_not_said_that_noise_was_left_out(in_six_columns):
    """Leaves there weigh all that was counted, and so noise of either sign."""
    made = PrivateCoreset(epsilon=2.0, **SIX).fit(in_six_columns).coreset_
    near = np.square(CLOUDS[:, None] - made.points).sum(axis=2).argmin(axis=0)
    assert np.bincount(near, weights=made.weights) == pytest.approx([10_000, 22_000], rel=0.25)
    assert np.abs(made.weights).sum() > 2 * len(in_six_columns)
    assert made.certificate.parameters["synopsis"] == "tree in a subspace"
    assert "in weights of people but of a tree in a subspace, as far as" in made.certificate.parameters["zones_note"]


@pytest.mark.parametrize("columns", [2, 6])
def test_more_numbers_than_can_be_held_by_zone_are_of_kept_rows(people, in_six_columns, columns, monkeypatch):
    """How many leaves there are is known after the charge: nothing may fail there."""
    monkeypatch.setattr(zoned, "MOST_CELLS", 4)
    asked = {"k": 2, **({**ASKED, "zones": ZONES, "random_state": 1} if columns == 2 else {**SIX, "epsilon": 2.0})}
    release = fit(people if columns == 2 else in_six_columns, **asked)
    assert release.certificate.parameters["zones_note"].endswith(KEPT)
    assert "not counted up" in release.certificate.parameters["not_told"]["errors"]


@pytest.mark.parametrize("algorithm", ["grid", "auto", "ball-coreset"])
def test_files_and_memory_give_the_same_release_of_people_in_zones(people, algorithm, tmp_path):
    some = people[::9]
    some.to_parquet(tmp_path / "rows.parquet")
    asked = {"k": 3, "algorithm": algorithm, "zones": ZONES, "random_state": 4, "sample": 0.5, **ASKED}
    assert fit(some, **asked).to_json() == fit(tmp_path / "rows.parquet", engine="files", **asked).to_json()


def test_a_sample_of_people_counts_all_of_them(people):
    release = fit(people, k=3, algorithm="grid", zones=ZONES, random_state=4, sample=0.5, **ASKED)
    assert in_order(release)[1] == pytest.approx(ROWS, rel=0.15)

"""How good released centres are: right on every table, one query for all that is compared, charged first."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from covey import BudgetError, FormatError, KMeans, KMedian, Ledger, ParameterError
from covey.errors import CoveyError
from covey.fit.score import make_score
from covey.fit.session import heard_by
from covey.published.score.score import Score
from covey.published.score.words import _told as words_of_score
from covey.published.score.words import show_score

BOX = {"x": (0.0, 2.0), "y": (0.0, 2.0)}
EXACT = {"epsilon": 10_000, "random_state": 1}  # of such noise next to nothing is left
NOT_SAID = {**dict.fromkeys(("neighbours", "person", "rows_per_person", "ledger", "dataset")), "engine": "auto"}


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    where = rng.choice([[0.4, 0.4], [1.6, 0.6], [1.0, 1.8]], 900) + rng.normal(0, 0.1, (900, 2))
    return pd.DataFrame({"x": where[:, 0].clip(0, 2), "y": where[:, 1].clip(0, 2), "who": rng.integers(0, 200, 900)})


@pytest.fixture(scope="module")
def release(rows):
    return KMeans(3, epsilon=5.0, bounds=BOX, random_state=1).fit(rows).release_


@pytest.fixture(scope="module")
def medians(rows):
    return KMedian(3, epsilon=5.0, bounds=BOX, random_state=1).fit(rows).release_


def distances(rows, centres) -> np.ndarray:
    return np.sqrt(np.square(rows[["x", "y"]].to_numpy()[:, None] - np.array(centres)).sum(axis=2).min(axis=1))


def close(told, truth: float) -> bool:
    return told[1] - 1e-3 * truth <= truth <= told[2] + 1e-3 * truth and abs(told[0] / truth - 1) < 0.01


def test_every_score_is_what_the_rows_say(rows, release, medians):
    far = distances(rows, release.centres)
    found = release.score(rows, within=0.15, **EXACT)
    assert close(found.cost(), np.square(far).sum())  # half of each range is 1: scaled by the bounds, it is the same
    assert close(found.rows(), 900)
    assert close(found.distance(), far.mean())
    assert close(found.root_mean_square(), np.sqrt(np.square(far).mean()))
    assert close(found.share_within(), (far <= 0.15).mean())
    middle = np.average(release.centres, axis=0, weights=release.sizes)
    assert close(found.explained(), 1 - np.square(far).sum() / np.square(distances(rows, [middle])).sum())
    apart = min(np.linalg.norm(np.subtract(a, b)) for a in release.centres for b in release.centres if a != b)
    assert found.sets[0].separation == pytest.approx(apart)
    other = medians.score(rows, **EXACT)
    assert close(other.cost(), distances(rows, medians.centres).sum())
    assert close(other.distance(), distances(rows, medians.centres).mean())
    assert other.root_mean_square() is None


def test_rows_that_are_farther_than_the_clip_count_as_that_far(rows, release):
    found = release.score(rows, clip=0.12, **EXACT)
    assert close(found.cost(), np.square(np.minimum(distances(rows, release.centres), 0.12)).sum())
    wide, narrow = (release.score(rows, clip=each, epsilon=0.5, random_state=1).cost() for each in (None, 0.3))
    assert narrow[2] - narrow[1] < (wide[2] - wide[1]) / 10


def test_several_sets_are_compared_in_one_query(rows, release, medians):
    asked = []

    def listen(curator):
        reserve = curator.reserve
        curator.reserve = lambda plan: (asked.append(plan), reserve(plan))[1]
        return curator

    with heard_by(listen):
        found = release.score(rows, against={"medians": medians}, public_centres={"bad": [[1.0, 1.0]]}, **EXACT)
    assert [len(plan.events) for plan in asked] == [1]
    assert [each.name for each in found.sets] == ["release", "medians", "bad"]
    ours, bad = (np.square(distances(rows, each)).sum() for each in (release.centres, [[1, 1]]))
    assert close(found.cost("bad"), bad)
    assert close(found.compared("bad"), bad / ours)
    assert found.is_better("bad") is False
    assert release.score(rows, public_centres={"same": release.centres}, **EXACT).is_better("same") is None
    assert found.noise_scale == 4 * 2**16 / 10_000  # three sets, and a single centre
    with pytest.raises(ParameterError, match="no set 'worse'"):
        found.cost("worse")


def test_all_tables_files_and_passes_give_the_same_score_to_the_byte(rows, release, tmp_path):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    ways = [rows, pl.from_pandas(rows), rows[["x", "y"]].to_numpy(), tmp_path / "rows.csv", tmp_path / "rows.parquet"]
    found = {make_score(release, way, **NOT_SAID, epsilon=1.0, random_state=3).to_json() for way in ways}
    assert len(found) == 1


def test_a_map_is_scored_in_metres_and_columns_of_different_units_in_halves(rows):
    trips = pd.DataFrame({"lon": -74 + rows.x / 100, "lat": 40.7 + rows.y / 100})
    box = {"lon": (-74.0, -73.98), "lat": (40.7, 40.72)}
    city = KMeans(3, epsilon=5.0, bounds=box, random_state=1).fit(trips).release_
    found = city.score(trips, within=150.0, **EXACT)
    assert found.metres
    assert 80 < found.distance()[0] < 140  # a tenth of 0.01 degrees, in two columns
    uneven = KMeans(3, epsilon=5.0, bounds={"x": (0, 2), "y": (0, 4)}, random_state=1).fit(rows).release_
    told = uneven.score(rows, **EXACT)
    assert (told.unit, told.metres) == (0.0, False)


def test_few_rows_say_that_they_cannot_tell(release):
    found = release.score(np.empty((0, 2)), epsilon=0.1, within=0.1, random_state=2)
    assert found.cost()[1] == 0.0
    told = [found.distance(), found.share_within(), found.explained()]
    assert all(each is None or each[2] - each[1] > 0.3 for each in told)


def test_people_and_replaced_rows_have_their_own_noise(rows, release):
    ask = {"epsilon": 0.5, "random_state": 1}
    one = release.score(rows, **ask).noise_scale
    assert release.score(rows, neighbours="replace-one", **ask).noise_scale == 2 * one
    assert release.score(rows, person="who", rows_per_person=3, **ask).noise_scale == 3 * one


def test_a_score_is_charged_first_and_kept_under_its_key(rows, tmp_path):
    with pytest.warns(UserWarning, match="ledger"):
        public = KMeans(2, epsilon=5.0, bounds=BOX).fit(rows[["x", "y"]]).release_
    book = Ledger.create(tmp_path / "city.ledger", dataset="trips", epsilon=1)
    ask = {"epsilon": 0.4, "ledger": book.with_key("monday"), "dataset": "trips"}
    first = public.score(rows[["x", "y"]], **ask)
    assert public.score(rows[["x", "y"]], **ask).to_json() == first.to_json()
    assert float(book.datasets()["trips"].spent.epsilon) == 0.4
    with pytest.raises(CoveyError, match="key"):
        public.score(rows[["x", "y"]], within=0.1, **ask)
    with pytest.raises(BudgetError):
        public.score(rows[["x", "y"]], epsilon=0.7, ledger=book, dataset="trips")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"within": 0}, "within: must be a positive distance"),
        ({"within": 1e-12}, "within: is too near"),
        ({"clip": 1e-12}, "clip: is too near"),
        ({"within": True}, "within: must be a positive distance"),
        ({"clip": float("inf")}, "clip: must be a positive distance"),
        ({"clip": float("nan")}, "clip: must be a positive distance"),
        ({"within": 0.3, "clip": 0.2}, "clip: must be farther than within"),
        ({"against": "r.json"}, "against: must be releases"),
        ({"against": [[[0.0, 0.0]]]}, "must be a Release"),
        ({"public_centres": {"release": [[0, 0]]}}, "names of their own"),
        ({"public_centres": {"\udcff": [[0, 0]]}}, "printable text"),
        ({"public_centres": {"a": [[0, 1e308]]}}, "absurdly far"),
        ({"public_centres": {"a": [[0, float("nan")]]}}, "absurdly far"),
        ({"public_centres": {"a": [[0]]}}, "points with 2 coordinates"),
        ({"public_centres": {"a": "x"}}, "points with 2 coordinates"),
        ({"epsilon": -1}, "epsilon"),
        ({"random_state": None}, "release: is seeded"),
        ({"engine": "moon"}, "engine: must be one of"),
    ],
)
def test_what_is_wrong_is_refused_by_name(rows, release, asked, words):
    with pytest.raises(CoveyError) as error:
        make_score(release, rows, **{**NOT_SAID, "epsilon": 1.0, "random_state": 1, **asked})
    assert words in str(error.value)


def test_releases_of_other_columns_and_rows_of_other_widths_are_refused(rows, release):
    turned = KMeans(2, epsilon=5.0, bounds={"y": (0, 2), "x": (0, 2)}, random_state=1).fit(rows).release_
    with pytest.raises(ParameterError, match="columns of the release"):
        release.score(rows, against=[turned], epsilon=1, random_state=1)
    with pytest.raises(CoveyError, match="3 columns, without names"):
        release.score(np.zeros((3, 3)), epsilon=1, random_state=1)


def test_what_a_release_tells_of_itself_is_free(rows, release):
    found = release.score()
    truth = np.square(distances(rows, release.centres)).sum()
    assert found["cost"][1] <= truth <= found["cost"][2]
    assert found["explained"] is None
    kept = KMeans(3, epsilon=5.0, bounds=BOX, random_state=1, algorithm_params={"keep_synopsis": True}).fit(rows)
    told = kept.release_.score()
    assert 0.8 < told["explained"][0] < 1
    assert told["separation"][1:] == (None, None)


def test_a_score_survives_its_file_and_damaged_ones_are_refused(rows, release, tmp_path, capsys):
    found = release.score(rows, within=0.2, clip=0.9, public_centres={"bad": [[1.0, 1.0]]}, epsilon=1, random_state=1)
    found.save(tmp_path / "score.json")
    again = Score.load(tmp_path / "score.json")
    assert again.to_json() == found.to_json()
    show_score(again)
    lines = capsys.readouterr().out.splitlines()
    assert "bad is worse than release." in lines
    assert max(map(len, lines)) <= 100
    assert again.plot().startswith(b"\x89PNG")
    document = json.loads(found.to_json())
    assert document["scores"]["release"]["cost"] == list(found.cost())
    for change in ({"format": "x"}, {"sets": []}, {"mass": 0}, {"unit": -1}, {"objective": "k"}, {"noise_scale": None}):
        with pytest.raises(FormatError, match="score"):
            Score.from_json(json.dumps({**document, **change}).encode())
    knots = document["sets"][0]["knots"]
    for damaged in ([9e9, *knots[1:]], [*knots[:-1], 1e160]):  # not in order; squares overflow
        document["sets"][0]["knots"] = damaged
        with pytest.raises(FormatError, match="damaged"):
            Score.from_json(json.dumps(document).encode())


def test_no_rows_are_never_told_for_certain(release, capsys):
    """Of 60 noisy answers on no rows, none is a point, and nothing is told of which anything is possible."""
    maybe_none = 0
    for seed in range(60):
        found = release.score(np.empty((0, 2)), epsilon=0.1, within=0.1, random_state=seed)
        for told in found.told().values():
            assert told is None or (told[2] >= 0 and told[2] - told[1] > 1e-3)
        maybe_none += found.cost()[1] == 0.0
        show_score(found)
        assert "100.0% (100.0" not in capsys.readouterr().out
    assert maybe_none >= 50


def test_centres_far_worse_than_one_are_told_as_such(rows, release):
    found = release.score(rows, public_centres={"corner": [[2.0, 0.0]]}, **EXACT)
    corner = np.square(distances(rows, [[2.0, 0.0]])).sum()
    middle = np.average(release.centres, axis=0, weights=release.sizes)
    one = np.square(distances(rows, [middle])).sum()
    share, low, high = found.explained("corner")
    assert low <= share <= high < -1
    assert share == pytest.approx(1 - corner / one, rel=0.01)


def test_a_picture_of_nothing_says_so(release, monkeypatch):
    from matplotlib.axes import Axes

    said, wide, text, xlim = [], [], Axes.text, Axes.set_xlim
    monkeypatch.setattr(
        Axes, "text", lambda axes, x, y, words, **more: (said.append(words), text(axes, x, y, words, **more))[1]
    )
    monkeypatch.setattr(Axes, "set_xlim", lambda axes, *ends, **more: (wide.append(ends), xlim(axes, *ends, **more))[1])
    found = release.score(np.empty((0, 2)), epsilon=0.001, random_state=2)
    assert all(each is None for each in found.within_knots()[1])
    found.plot()
    assert any("cannot tell" in each for each in said)
    assert wide[-1][1] > 1  # as far as a row can be


@pytest.mark.parametrize("far", [9.0, 1e18, 1e99, 1e200])
def test_no_row_is_farther_than_a_distance_beyond_the_bounds(rows, release, far):
    """1e99 was said to be too near to a centre."""
    usual = release.score(rows, epsilon=1, random_state=1)
    found = release.score(rows, within=far, epsilon=1, random_state=1)
    assert found.share_within() == (1.0, 1.0, 1.0)
    assert found.cost() == usual.cost() == release.score(rows, clip=far, epsilon=1, random_state=1).cost()


@pytest.mark.parametrize("half", [1e-200, 1e-30, 1e100, 1e300])
def test_distances_are_asked_for_in_bounds_of_any_size(half):
    rows = half * np.random.default_rng(1).uniform(-1, 1, (500, 2))
    release = KMeans(2, epsilon=5.0, bounds=[(-half, half)] * 2, random_state=1).fit(rows).release_
    found = release.score(rows, within=half / 3, clip=half, epsilon=1, random_state=1)
    middle, low, high = found.share_within()
    assert 0 < low < middle < high < 1
    assert Score.from_json(found.to_json()).told() == found.told()
    if half < 1e-29:
        assert release.score(rows, within=1.0, epsilon=1, random_state=1).share_within() == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_distance_and_a_name_of_numpy_are_written_too_once_they_are_paid_for(rows, release, kind):
    asked = {"within": kind(0.15), "clip": kind(0.5), "public_centres": {np.str_("ours"): [[1.0, 1.0]]}}
    found = release.score(rows, epsilon=1, random_state=1, **asked)
    assert json.loads(found.to_json())["within"] == pytest.approx(0.15)
    assert [each.name for each in found.sets] == ["release", "ours"]


def test_distances_are_told_as_they_were_asked_for_and_shares_outward(rows, release, capsys):
    """1,234 was told as 1,200, and a share from 99.96% on as one from 100.0%."""
    show_score(release.score(rows, within=0.12345, clip=0.54321, epsilon=1, random_state=1))
    words = " ".join(capsys.readouterr().out.split())
    assert "share within 0.12345" in words
    assert "Rows farther than 0.54321 from all centres" in words
    assert words_of_score("share within", (0.99981, 0.9996, 1.0)) == "99.981% (99.960 to 100.000)"
    assert words_of_score("explained", (0.512, 0.50449, 0.5195)) == "51.2% (50.4 to 52.0)"
    assert words_of_score("cost", (1.23456, 1.23451, 1.23459)) == "1.235 (1.234 to 1.235)"


def test_of_people_a_score_is_of_the_rows_that_count(rows, release, capsys):
    show_score(release.score(rows, person="who", rows_per_person=2, epsilon=1, random_state=1))
    assert "the rows that count, at most 2 of each person" in " ".join(capsys.readouterr().out.split())

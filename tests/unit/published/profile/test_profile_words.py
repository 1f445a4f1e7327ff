"""What a profile says and draws: what stands out first, that small clusters tell nothing; damaged files are refused."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pandas as pd
import pytest

from covey import FormatError, KMeans, ParameterError
from covey.published.certificate import Certificate
from covey.published.profile.columns import read_columns
from covey.published.profile.draw import _cut, _heading, _ticks, title_of
from covey.published.profile.profile import Profile
from covey.published.profile.words import in_bins, sentences, show_profile


@pytest.fixture(scope="module")
def found() -> Profile:
    """A large cluster by bike, a large one by car and older, and one of four rows."""
    rng = np.random.default_rng(1)
    label = np.repeat([0, 1, 2], [3000, 3000, 4])
    rows = pd.DataFrame(
        np.array([[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]])[label] + rng.normal(0, 0.01, (6004, 2)), columns=["x", "y"]
    )
    rows["mode"] = np.where(rng.random(6004) < np.array([0.8, 0.1, 0.5])[label], "bike", "car")
    rows["age"] = rng.normal(np.array([30.0, 60.0, 45.0])[label], 8)
    rows["flat"] = rng.choice(["a", "b"], 6004)
    release = KMeans(3, epsilon=50.0, bounds={"x": (0, 1), "y": (0, 1)}, random_state=1).fit(rows).release_
    order = np.argsort(np.array(release.centres)[:, 0]).tolist()
    release.centres[:] = [release.centres[each] for each in (order[0], order[2], order[1])]
    return release.profile(rows, columns=["mode=bike|car", "age=0:100", "flat=a|b"], epsilon=0.5, random_state=1)


def test_what_stands_out_is_said_first_and_small_clusters_say_that_they_cannot_tell(found):
    first, second, third = sentences(found)
    assert first.startswith("Cluster 0: mode bike 80")
    assert "% overall; median age 3" in first
    assert "flat" not in first
    assert "mode car 89" in second
    assert "median age 6" in second
    assert third == "Cluster 2: too few rows to tell anything with this budget."
    assert found.cannot_tell("mode").tolist() == [False, False, True]
    best = found.standing_out[0]
    assert best.here[1] <= best.here[0] <= best.here[2]
    assert {each.cluster for each in found.standing_out} == {0, 1}


def test_a_profile_is_shown_in_whole_lines(found, capsys):
    show_profile(found)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 88
    [head] = (line.split() for line in lines if line.startswith("mode "))
    assert head == ["mode", "rows", "(noisy)", "bike", "car", "other"]
    assert sum("cannot tell" in line for line in lines) >= 2
    assert any(line.startswith("SEEDED") for line in lines)


def small(counts: list[list[int]], column: str, scale: float) -> Profile:
    columns = list(read_columns([column], [column.partition("=")[0]], {}))
    numbers = {"neighbours": "add-remove", "person": "one row", "domain": {"type": "box", "lower": [0], "upper": [1]}}
    promise = Certificate(
        algorithm="profile", parameters={}, epsilon=1.0, delta=0.0, seeded=False, covey="test", **numbers
    )
    tables = [np.array(counts, dtype=np.int64)]
    return Profile(
        centres=[[0.1 * i] for i in range(len(counts))], columns=columns, counts=tables, noise_scale=scale,
        certificate=promise,
    )  # fmt: skip


def test_a_small_share_is_told_with_the_ends_of_its_interval_which_it_is_not_the_middle_of(capsys):
    """Half of the interval about it would leave out what the interval holds: 1% ± 5 is not 0% to 10%."""
    told = small([[200, -6, -3]], "mode=bike|car", 8.0)
    show_profile(told)
    _, low, high = told.shares("mode")[0, 1]
    assert low == 0
    assert high > 0.05
    assert f"0% (0 to {np.ceil(100 * high):.0f})" in capsys.readouterr().out


def test_no_number_of_rows_is_told_below_none(capsys):
    show_profile(small([[-9, -6, -3], [100, 100, 0]], "mode=bike|car", 4.0))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:3] == ["0", "0", "±"] for line in lines)


def test_of_people_the_rows_are_those_that_count(capsys):
    told = small([[90, 60, 30]], "mode=bike|car", 4.0)
    people = {"unit": "who", "person": "all rows with the same 'who', of which at most 2 count"}
    told.certificate = msgspec.structs.replace(
        told.certificate, **people, parameters={"people": {"rows_per_person": 2}}
    )
    show_profile(told)
    words = " ".join(capsys.readouterr().out.split())
    assert "mode rows that count (noisy) bike car other" in words
    assert "the rows that count, at most 2 of each person" in words


def test_bins_of_large_numbers_have_names_of_their_own_that_say_where_they_are():
    [column] = read_columns(["year=1000000:1000012:12"], ["year"], {})
    assert column.cells[:2] == ["1000000 to 1000001", "1000001 to 1000002"]
    assert len(set(column.cells)) == 13
    [column] = read_columns(["age=0:120:7"], ["age"], {})
    assert column.cells[:2] == ["0 to 17.1429", "17.1429 to 34.2857"]


def test_a_median_at_an_end_of_the_range_is_said_to_lie_beyond_it_perhaps(capsys):
    show_profile(small([[10, 10, 500, 0]], "age=0:30:3", 2.0))
    words = " ".join(capsys.readouterr().out.split())
    assert "beyond the range of age were counted in its first or last cell" in words
    show_profile(small([[10, 500, 10, 0]], "age=0:30:3", 2.0))
    assert "beyond the range" not in " ".join(capsys.readouterr().out.split())


def test_a_profile_is_drawn_with_a_panel_for_each_cluster_and_column(found):
    assert found.plot().startswith(b"\x89PNG")


def test_the_picture_says_what_it_leaves_out_and_all_of_the_promise():
    told = small([[50 + i, 20, 30, 0] for i in range(25)], "age=1000000:1000003:3", 2.0)
    promise = msgspec.structs.replace(told.certificate, epsilon=0.12345678, delta=1e-7)
    told.certificate = promise
    words = title_of(told)
    assert "ε = 0.12345678, δ = 1e-07" in words
    assert words.endswith("The largest 20 of 25 clusters.")
    assert told.plot().startswith(b"\x89PNG")
    assert _ticks(told.columns[0], 3)[1] == ["1000000", "1000001", "1000002", "1000003"]
    [many] = read_columns(["mode=" + "|".join(f"the {i}th" for i in range(40))], ["mode"], {})
    assert _heading(many) == "mode (30 of 41)"
    assert _cut("neighbourhood A") == "neighbourho…"


def test_the_records_are_every_count_with_its_share(found):
    lines = found.records()
    assert len(lines) == 3 * (3 + 21 + 3)
    assert lines[0].keys() == {"cluster", "column", "cell", "count", "share", "low", "high"}
    assert lines[0] | {"cluster": 0, "column": "mode", "cell": "bike", "count": int(found.counts[0][0, 0])} == lines[0]


def test_a_column_that_was_not_asked_for_is_named(found):
    with pytest.raises(ParameterError, match="no column 'size'"):
        found.shares("size")
    with pytest.raises(ParameterError, match="no median"):
        found.medians("mode")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "covey-release"},
        {"version": 2},
        {"centres": []},
        {"centres": [[0.0], [0.0], [0.0]]},
        {"counts": [[[1]]]},
        {"noise_scale": 0},
        {"noise_scale": None},
        {"columns": []},
        {"counts": [[[2**63] * 3] * 3, [[1] * 21] * 3, [[1] * 3] * 3]},
    ],
)
def test_a_damaged_profile_is_refused(found, change):
    document = {**json.loads(found.to_json()), **change}
    with pytest.raises(FormatError, match="profile"):
        Profile.from_json(json.dumps(document).encode())
    with pytest.raises(FormatError, match="profile"):
        Profile.from_json(b"[" * 9)


def test_edges_that_do_not_ascend_are_refused(found):
    document = json.loads(found.to_json())
    document["columns"][1]["edges"][3] = 99.0
    with pytest.raises(FormatError, match="damaged"):
        Profile.from_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("low", "high", "bins", "told"),
    [
        (40, 41, 20, ["40.74", "40.05", "40.1"]),
        (-74.1, -73.9, 20, ["-74.026", "-74.09", "-74.08"]),
        (0, 120, 20, ["44", "6", "12"]),
        (0, 100, 20, ["37", "5", "10"]),
        (0, 5000, 20, ["1,850", "250", "500"]),
        (0, 20_000, 20, ["7,400", "1,000", "2,000"]),
        (0, 1, 3, ["0.37", "0.33", "0.67"]),
        (-1, 1, 2, ["-0.3", "0", "1"]),
        (0, 1e300, 2, ["3.7e+299", "5e+299", "1e+300"]),
    ],
)
def test_medians_have_as_many_digits_as_their_bins_need(low, high, bins, told):
    edges = np.linspace(low, high, bins + 1).tolist()
    middle = {(40, 41): 40.737, (-74.1, -73.9): -74.026}.get((low, high), low + 0.37 * (high - low))
    assert [in_bins(each, edges) for each in (middle, edges[1], edges[2])] == told
    assert len({in_bins(each, edges) for each in edges}) == len(edges)  # no interval has the same ends


def test_a_profile_of_a_map_tells_its_medians_apart(capsys):
    rng = np.random.default_rng(7)
    homes = np.array([[-74.05, 40.72], [-73.98, 40.76], [-73.93, 40.85]])
    trips = pd.DataFrame(homes[rng.integers(0, 3, 5_000)] + rng.normal(0, 0.01, (5_000, 2)), columns=["lon", "lat"])
    box = {"lon": (-74.1, -73.9), "lat": (40.7, 40.9)}
    release = KMeans(3, epsilon=5.0, bounds=box, random_state=1).fit(trips).release_
    profile = release.profile(trips, columns=["lat=40:41", "lon"], epsilon=1.0, random_state=1)
    said = " ".join(sentences(profile))
    assert "median lon -74.05" in said
    assert "-73.93" in said
    show_profile(profile)
    assert "40.85" in capsys.readouterr().out

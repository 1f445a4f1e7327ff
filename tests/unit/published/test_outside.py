"""The share of rows outside the bounds: what a release says, how sure it is, and how it reads."""

from __future__ import annotations

import numpy as np
import pytest

from covey import Ball, Box, KMeans
from covey.fit.fit import fit
from covey.published.outside import Share, percent, public_rows, share_outside
from covey.published.release import Release
from covey.published.show import show_release


def rows(n: int = 4000, outside: int = 400) -> np.ndarray:
    found = np.random.default_rng(2).uniform(-1, 1, (n, 2))
    found[:outside:2, 0] = 3.0
    found[1:outside:2, 1] = np.nan
    return found


def released(seed: int = 0, **more: object) -> Release:
    return fit(rows(), k=2, bounds=(-1, 1), random_state=seed, **{"epsilon": 1.0, "algorithm": "grid", **more})


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_release_tells_the_share_outside(neighbours):
    release = released(epsilon=20.0, neighbours=neighbours)
    notes = release.certificate.parameters
    share, low, high = release.rows_outside
    assert share == pytest.approx(0.1, abs=0.01)
    assert low <= share <= high < low + 0.01
    assert isinstance(notes["rows_outside"], int)
    assert notes["rows_outside_scale"] == (1.25 if neighbours == "add-remove" else 2.5)
    if neighbours == "replace-one":
        assert notes["rows_inside"] + notes["rows_outside"] == 4000
    assert Release.from_json(release.to_json()).rows_outside == release.rows_outside


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_interval_holds_the_share_nine_times_in_ten(neighbours):
    """At least 90%, less five deviations of 300 runs: a false alarm has odds below 10^-6, and the seeds are fixed."""
    found = [released(seed, neighbours=neighbours, algorithm="genetic", algorithm_params=QUICK) for seed in range(300)]
    held = [each.rows_outside.low <= 0.1 <= each.rows_outside.high for each in found]
    assert np.mean(held) > 0.81
    if neighbours == "replace-one":  # one noise, whose tail is exact but for a row
        assert np.mean(held) < 0.99


QUICK = {"least_rounds": 1, "most_rounds": 1}


def test_of_a_sample_counts_are_scaled_to_all_rows_and_the_share_is_the_samples():
    notes = released(epsilon=20.0, sample=0.5).certificate.parameters
    assert notes["rows_outside"] == pytest.approx(400, rel=0.2)
    assert notes["rows_inside"] == pytest.approx(3600, rel=0.05)
    exact = released(epsilon=20.0, sample=1000, neighbours="replace-one")
    assert exact.certificate.parameters["rows_inside"] + exact.certificate.parameters["rows_outside"] == 4000
    assert exact.rows_outside.share == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("d", [2, 6])
def test_with_zones_it_is_the_share_of_kept_rows_and_says_so(d, capsys):
    """Nobody outside is in the zone, where a tenth of the rows is kept: a twentieth of all is a third of those."""
    found = np.random.default_rng(3).uniform(-1, -0.2, (4000, d))
    found[:200, 0] = 3.0
    zones = [(Box((-1, -0.1), *[(-1, 1)] * (d - 1)), 0.5)]
    release = fit(found, k=2, bounds=(-1, 1), epsilon=2.0, zones=zones, random_state=0)
    assert release.rows_outside.low > 0.1
    words = str(release.rows_outside)
    assert "of rows that zones kept were outside the bounds" in words
    show_release(release)
    assert " ".join(capsys.readouterr().out.split()).count(words) == 1


@pytest.mark.parametrize(("algorithm", "d"), [("lloyd", 2), ("lloyd", 4)])
def test_who_never_asks_for_the_number_of_rows_does_not_pay_for_it(algorithm, d):
    release = fit(np.zeros((50, d)), k=2, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm, random_state=0)
    assert release.rows_outside is None
    assert "rows_outside" not in release.certificate.parameters


def test_unit_vectors_are_inside_a_unit_ball():
    directions = np.random.default_rng(0).normal(size=(3000, 6))
    directions /= np.sqrt(np.square(directions).sum(axis=1))[:, None]
    model = KMeans(2, epsilon=50.0, bounds=Ball(1.0), random_state=0).fit(directions)
    assert model.release_.rows_outside.high < 0.01


def test_counts_that_noise_has_made_impossible_are_still_shares():
    document = released().certificate
    for inside in (-500, -3, 0, 5, 10**6):
        for outside in (-500, -3, 0, 5, 10**6):
            notes = {"rows_inside": inside, "rows_outside": outside, "rows_outside_scale": 25.0}
            share, low, high = share_outside(type(document)(**{**plain(document), "parameters": notes}))
            assert 0 <= low <= share <= high <= 1
    for broken in ({}, {**notes, "rows_outside": "many"}, {**notes, "rows_outside_scale": float("nan")}):
        assert share_outside(type(document)(**{**plain(document), "parameters": broken})) is None


def plain(certificate) -> dict[str, object]:
    return {name: getattr(certificate, name) for name in certificate.__struct_fields__}


def test_it_reads_as_a_sentence(capsys):
    assert str(Share(0.012, 0.009, 0.015)) == (
        "About 1.2% of rows were outside the bounds or lacked a number (0.9% to 1.5%; 9 times in 10)."
    )
    unknown = "What share of rows was outside the bounds or lacked a number is not known: noise leaves all open."
    assert str(Share(1.0, 0.0, 1.0)) == str(Share(0.0, 0.0, 1.0)) == unknown
    assert [percent(each) for each in (0.0, 0.000123, 0.5, 1.0)] == ["0%", "0.012%", "50%", "100%"]
    release = released()
    show_release(release)
    assert str(release.rows_outside) in " ".join(capsys.readouterr().out.split())


def test_words_say_the_share_outside_where_it_matters_and_a_page_says_it_once(capsys):
    release = released(epsilon=20.0)
    assert str(release.rows_outside) in release.words
    show_release(release)
    assert " ".join(capsys.readouterr().out.split()).count("of rows were outside") == 1
    inside = fit(np.zeros((4000, 2)), k=2, bounds=(-1, 1), random_state=1, epsilon=20.0, algorithm="grid")
    assert not any("outside" in each for each in inside.words)
    assert not Share(0.002, 0.0, 0.01).matters
    assert Share(0.0, 0.0, 1.0).matters
    assert Share(0.002, 0.001, 0.01).matters


@pytest.fixture(scope="module")
def document():
    return released().certificate


@pytest.fixture(scope="module")
def told(document):
    def of(neighbours: str, **notes: object) -> Share:
        fields = {**plain(document), "neighbours": neighbours, "parameters": notes}
        return share_outside(type(document)(**fields))

    return of


def test_noise_far_below_nothing_does_not_make_the_share_certain(told):
    share, low, high = told("add-remove", rows_inside=2000, rows_outside=-400, rows_outside_scale=100.0)
    assert (share, low) == (0.0, 0.0)
    assert high == pytest.approx(300 / 2000, rel=0.02)  # as if none had been counted
    for neighbours in ("add-remove", "replace-one"):
        for noise in range(-900, 900, 100):
            inside = 1000 - noise if neighbours == "replace-one" else 1000
            share, low, high = told(neighbours, rows_inside=inside, rows_outside=noise, rows_outside_scale=100.0)
            assert low <= share <= high
            assert high - low > 0.1


def test_where_the_number_of_rows_is_public_the_share_is_of_that_number(told):
    assert told("replace-one", rows_inside=-488, rows_outside=548, rows_outside_scale=500.0) == (1.0, 0.0, 1.0)
    share, low, high = told("replace-one", rows_inside=900, rows_outside=100, rows_outside_scale=10.0)
    assert (share, low, high) == (0.1, 0.077, 0.123)


@pytest.mark.parametrize(
    ("neighbours", "notes", "rows"),
    [
        ("replace-one", {"rows_inside": -488, "rows_outside": 548, "rows_outside_scale": 500.0}, 60),
        ("add-remove", {"rows_inside": 40, "rows_outside": 20, "rows_outside_scale": 500.0}, None),
        ("replace-one", {"sample": {"kind": "without replacement", "size": 10, "of": 100}}, 100),
        ("replace-one", {"sample": {"kind": "without replacement", "size": 10, "of": "many"}}, None),
        ("replace-one", {"sample": 3, "rows_inside": "x"}, None),
        ("replace-one", {"rows_inside": -5, "rows_outside": 2, "rows_outside_scale": 1.0}, None),
    ],
)
def test_the_number_of_rows_is_known_where_it_is_public_and_a_certificate_tells_it(neighbours, notes, rows):
    assert public_rows(neighbours, notes) == rows


@pytest.mark.parametrize("more", [{}, {"sample": 30}, {"algorithm": "lloyd", "sample": 30}, {"errors": "none"}])
def test_no_size_and_no_interval_exceeds_a_public_number_of_rows(more):
    for seed in range(12):
        data = np.random.default_rng(seed).uniform(-1, 1, (60, 2))
        asked = {"k": 2, "epsilon": 0.1, "bounds": (-1, 1), "neighbours": "replace-one", "random_state": seed}
        found = fit(data, **asked, **more)
        known = found.errors
        assert max(found.sizes) <= 60
        if more.get("errors") != "none":
            for size, (low, high), (least, most) in zip(found.sizes, known.sizes, known.joint_sizes, strict=True):
                assert least <= low <= size <= high <= most <= 60
                assert high > max(low, 0)

"""The demo: a made-up city, clustered privately, in files that hold no row."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

from covey import Release
from covey.cli import demo
from covey.noise.source import OsSource, SeededSource
from covey.post.random import public_rng
from covey.published.draw import city_map


@pytest.fixture(scope="module")
def city() -> np.ndarray:
    return demo.make_city()


def test_the_city_has_its_people_inside_the_public_box(city):
    assert city.shape == (demo.PEOPLE, 2)
    lower, upper = np.array(demo.BOX.ranges).T
    assert ((city > lower) & (city < upper)).all(axis=1).mean() > 0.999


def test_the_city_is_the_same_for_everyone(city):
    assert np.array_equal(demo.make_city(), city)
    assert not np.array_equal(demo.make_city(seed=8), city)


def test_nobody_stands_in_the_river(city):
    away = np.abs(city[:, 1] - demo.river(city[:, 0]))
    assert (away >= demo.RIVER_HALF_WIDTH * (1 - 1e-9)).all()


def test_districts_differ_in_size_and_all_are_there(city):
    shares = [district.share for district in demo.CITY]
    assert len(shares) == 7
    assert math.isclose(sum(shares), 1)
    for district in demo.CITY:
        near = np.hypot(*(city - district.middle).T) < 2 * max(district.length, district.width)
        assert near.mean() > 0.6 * district.share


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The demo as a newcomer runs it, and what it printed. Its noise is the same every time: centres are judged."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    words, source = io.StringIO(), SeededSource(1)
    with contextlib.redirect_stdout(words), pytest.MonkeyPatch.context() as patched:
        patched.setattr(OsSource, "words", lambda _, count, dtype: source.words(count, dtype))
        patched.setattr("covey.fit.request.public_rng", lambda _: public_rng(1))
        release = demo.run(folder)
    return folder, release, words.getvalue()


def test_the_demo_writes_three_files_and_no_rows(shown):
    folder, release, _ = shown
    assert sorted(path.name for path in folder.iterdir()) == ["centres.geojson", "map.png", "release.json"]
    assert Release.load(folder / "release.json") == release
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    features = json.loads((folder / "centres.geojson").read_text())["features"]
    assert len(features) == len(demo.CITY)
    assert sum((folder / name).stat().st_size for name in ("release.json", "centres.geojson")) < 10_000


def test_the_release_is_private_and_sorted_by_noisy_size(shown):
    _, release, _ = shown
    assert not release.certificate.seeded
    assert release.certificate.epsilon == 1
    assert release.certificate.neighbours == "add-remove"
    assert release.sizes == sorted(release.sizes, reverse=True)


def test_the_centres_are_good(shown, city):
    _, release, _ = shown
    assert demo.how_far_off(release, city) < 0.05
    for district in demo.CITY:
        assert min(np.hypot(*(np.array(release.centres) - district.middle).T)) < 0.01


def test_the_words_are_for_people(shown):
    folder, release, words = shown
    flat = " ".join(words.split())
    assert release.certificate.statement in flat
    assert "200,000 people" in flat
    assert "people (noisy)" in words
    for size in release.sizes:
        assert f"{round(size):,}" in words
    assert str(folder / "map.png") in words
    assert "\x1b" not in words
    assert "promised to each person" in flat


@pytest.fixture
def small(city, monkeypatch):
    """A city of a hundredth of the people."""
    monkeypatch.setattr(demo, "make_city", lambda: city[::100])


@pytest.mark.usefixtures("small")
def test_a_seed_repeats_and_is_confessed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "draw", lambda *_: None)  # the map takes longer than all the rest
    first = demo.run(tmp_path / "a", seed=3)
    second = demo.run(tmp_path / "b", seed=3)
    assert first == second
    assert "NOT PRIVATE" in capsys.readouterr().out
    assert first.certificate.seeded


@pytest.mark.usefixtures("small")
def test_without_matplotlib_the_rest_is_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    demo.run(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["centres.geojson", "release.json"]
    assert "covey[plot]" in capsys.readouterr().err


def test_drawing_works_for_few_centres_and_without_sizes(shown):
    import msgspec

    _, release, _ = shown
    one = msgspec.structs.replace(release, centres=release.centres[:1], sizes=None)
    lon = np.linspace(*demo.BOX.ranges[0], 10)
    picture = city_map(
        one,
        letters="A",
        made_up_points=np.zeros((1, 2)),
        river=np.stack([lon, demo.river(lon)], axis=1),
        river_half_width=demo.RIVER_HALF_WIDTH,
        roads=[],
    )
    assert picture.startswith(b"\x89PNG")

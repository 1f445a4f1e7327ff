"""`n_clusters="auto"`: the number of clusters comes from what was released, and the release says so."""

from __future__ import annotations

import numpy as np
import pytest

from covey import KMeans, KMedian, Ledger, PrivacyWarning
from covey.cli.main import main
from covey.errors import ParameterError
from covey.published.coreset.coreset import Coreset
from covey.published.release import Release

MIDDLES = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6], [-0.7, 0.5]])


def heaps(n: int = 6000) -> np.ndarray:
    rng = np.random.default_rng(4)
    return MIDDLES[rng.integers(4, size=n)] + rng.normal(0, 0.06, (n, 2))


@pytest.fixture(scope="module")
def model() -> KMeans:
    asked = {"k_range": (2, 9), "epsilon": 1.0, "bounds": (-1, 1), "random_state": 3}
    return KMeans("auto", algorithm_params={"keep_synopsis": True}, **asked).fit(heaps())


def test_the_number_is_chosen_and_said(model: KMeans) -> None:
    told = model.release_.certificate.parameters["how_many"]
    assert (
        model.n_clusters_ == len(model.release_.sizes) == model.release_.certificate.parameters["k"] == told["k"] == 4
    )
    assert told["range"] == [2, 9]
    assert "4 clusters fit best" in told["words"]
    assert [each[0] for each in told["costs"]] == list(range(2, 10))
    assert model.release_.certificate.epsilon == 1.0
    nearest = np.square(MIDDLES[:, None] - model.cluster_centers_).sum(axis=2).min(axis=1)
    assert nearest.max() < 0.02**2


def test_it_follows_from_what_was_released_alone(model: KMeans) -> None:
    """Every reader of the synopsis makes the same choice."""
    again = Coreset.of(Release.from_json(model.release_.to_json())).choose_k((2, 9))
    told = model.release_.certificate.parameters["how_many"]
    assert (again.k, again.low, again.high, again.words) == tuple(told[each] for each in ("k", "low", "high", "words"))


def test_the_synopsis_is_published_only_if_it_was_asked_for(model: KMeans) -> None:
    plain = KMeans("auto", k_range=(2, 3), epsilon=1.0, bounds=(-1, 1), random_state=3).fit(heaps(500))
    assert model.release_.coreset is not None
    assert plain.release_.coreset is None


def test_beyond_four_columns() -> None:
    rng = np.random.default_rng(7)
    rows = rng.uniform(-0.8, 0.8, (3, 6))[rng.integers(3, size=8000)] + rng.normal(0, 0.06, (8000, 6))
    found = KMedian("auto", k_range=(2, 6), epsilon=2.0, bounds=(-1, 1), random_state=1).fit(rows)
    assert found.n_clusters_ == 3
    np.testing.assert_allclose(found.release_.sizes, 8000 / 3, rtol=0.1)
    assert found.release_.size_intervals is None
    assert "a fit for that number tells" in found.release_.words[0]
    again = KMedian(3, epsilon=2.0, bounds=(-1, 1), random_state=1).fit(rows).release_
    assert again.size_intervals is not None  # so it does


def test_even_rows_are_warned_of_by_what_was_released() -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (3000, 2))
    with pytest.warns(PrivacyWarning, match="How many clusters there are cannot be told"):
        found = KMeans("auto", k_range=(2, 6), epsilon=1.0, bounds=(-1, 1), random_state=1).fit(rows)
    told = found.release_.certificate.parameters["how_many"]
    assert told["k"] is None
    assert f"The likeliest number, {found.n_clusters_}, was used" in told["words"]


def test_it_is_charged_once_and_a_key_stands_for_its_range(tmp_path) -> None:
    book = Ledger.create(tmp_path / "x.ledger", dataset="heaps", epsilon=3).with_key("monday")
    asked = {"epsilon": 1.0, "bounds": (-1, 1), "ledger": book, "dataset": "heaps"}
    first = KMeans("auto", k_range=(2, 6), **asked).fit(heaps(500)).release_
    assert KMeans("auto", k_range=(2, 6), **asked).fit(heaps(500)).release_ == first
    assert float(book.datasets()["heaps"].spent.epsilon) == 1
    for other in (KMeans("auto", k_range=(2, 7), **asked), KMeans(6, **asked)):
        with pytest.raises(Exception, match="key"):
            other.fit(heaps(500))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"n_clusters": "auto", "algorithm": "lloyd"}, "n_clusters: 'auto' needs algorithm='auto'"),
        ({"n_clusters": 4, "k_range": (2, 9)}, "k_range: is for n_clusters='auto'"),
        ({"n_clusters": "auto", "k_range": (9, 2)}, "k_range"),
        ({"n_clusters": "many"}, "n_clusters"),
    ],
)
def test_what_cannot_be_is_refused(asked, words) -> None:
    with pytest.raises(ParameterError, match=words):
        KMeans(**asked, epsilon=1.0, bounds=(-1, 1)).fit(heaps(10))


def test_on_the_command_line(tmp_path, capsys) -> None:
    np.savetxt(tmp_path / "heaps.csv", heaps(), delimiter=",", header="a,b", comments="")
    usual = ["fit", str(tmp_path / "heaps.csv"), "--epsilon", "1", "--bounds", "a=-1:1,b=-1:1", "--seed", "3"]
    main([*usual, "-k", "auto", "--k-range", "2:9"])
    assert "How many clusters: 4 clusters fit best" in capsys.readouterr().out
    for wrong, words in ((["-k", "many"], "-k"), (["-k", "auto", "--k-range", "9"], "--k-range")):
        with pytest.raises(SystemExit):
            main([*usual, *wrong])
        assert words in capsys.readouterr().err


def test_a_word_that_is_no_number_is_told_what_would_do() -> None:
    with pytest.raises(ParameterError, match="n_clusters: must be a whole number, or 'auto'"):
        KMeans("five", epsilon=1.0, bounds=(-1, 1)).fit(heaps(50))

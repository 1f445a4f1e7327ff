"""`Coreset.choose_k`: how many clusters, from one release."""

import numpy as np
import pytest

from covey import PrivateCoreset
from covey.errors import ParameterError
from covey.published.coreset.coreset import Coreset


def coreset_of(rows: np.ndarray, seed: int) -> Coreset:
    fitted = PrivateCoreset(n_clusters=12, epsilon=1.0, bounds=(-1, 1), errors="none", random_state=seed).fit(rows)
    return fitted.coreset_


def blobs(k: int, d: int, seed: int, n: int = 15_000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = np.zeros((0, d))
    while len(middles) < k:
        one = rng.uniform(-0.8, 0.8, d)
        if not len(middles) or np.square(middles - one).sum(axis=1).min() > 0.3**2:
            middles = np.vstack([middles, one])
    return middles[rng.integers(k, size=n)] + rng.normal(0, 0.045, (n, d))


@pytest.mark.parametrize(("k", "d"), [(3, 2), (7, 2), (5, 3), (6, 7)])
def test_blobs_are_counted_within_one(k: int, d: int) -> None:
    found = coreset_of(blobs(k, d, seed=100 * d + k), seed=k).choose_k((2, 12))
    assert found.k is not None
    assert abs(found.k - k) <= 1
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.k <= found.high
    assert f"{found.k} clusters fit best" in found.words


@pytest.mark.parametrize("d", [2, 6])
def test_even_rows_do_not_tell(d: int) -> None:
    rows = np.random.default_rng(d).uniform(-1, 1, (10_000, d))
    found = coreset_of(rows, seed=1).choose_k((2, 12))
    assert found.k is None
    assert "cannot be told" in found.words


def test_the_curve_has_a_cost_with_its_interval_for_each_k_and_is_the_same_for_every_reader() -> None:
    made = coreset_of(blobs(4, 2, seed=9), seed=2)
    found, again = made.choose_k((3, 8)), made.choose_k((3, 8))
    assert found == again
    assert sorted(found.costs) == [3, 4, 5, 6, 7, 8]
    assert all(each.low <= each.cost <= each.high for each in found.costs.values())
    assert found.costs[4].cost < 0.5 * found.costs[3].cost


@pytest.mark.parametrize("k_range", [(1, 5), (5, 2), (2, 1000), 7, (2,), (2.5, 4), "2:5"])
def test_a_range_that_is_none_is_refused_by_name(k_range: object) -> None:
    made = coreset_of(np.zeros((10, 2)), seed=1)
    with pytest.raises(ParameterError, match="k_range"):
        made.choose_k(k_range)  # type: ignore[arg-type]

"""Work on all cores gives what it gives on one, in its order and with the caller's settings."""

import numpy as np
import pytest

from covey.post import threads
from covey.post.threads import in_order, side_by_side


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_answers_come_in_the_order_of_the_items(cores, monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: cores)
    assert in_order(lambda i: i * i, range(50)) == [i * i for i in range(50)]


@pytest.mark.parametrize("worth", [True, False])
@pytest.mark.parametrize("cores", [1, 2])
def test_two_pieces_of_work_give_both_answers_or_the_error_of_either(cores, worth, monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: cores)
    assert side_by_side(lambda: 1, lambda: "two", worth=worth) == (1, "two")
    for pair in ((lambda: 1 // 0, lambda: 2), (lambda: 1, lambda: 2 // 0)):
        with pytest.raises(ZeroDivisionError):
            side_by_side(*pair, worth=worth)


def test_threads_work_with_the_callers_settings_of_numpy(monkeypatch):
    """Else numbers could decide between an answer and a warning, which may be an error."""
    monkeypatch.setattr(threads, "cores", lambda: 2)

    def settings(_: object = None) -> str:
        return np.geterr()["divide"]

    with np.errstate(divide="ignore"):
        assert in_order(settings, range(4)) == ["ignore"] * 4
        assert side_by_side(settings, settings, worth=True) == ("ignore", "ignore")

"""How often somebody may ask, by a clock of the test's own; and sizes in words."""

from __future__ import annotations

import pytest

from covey.studio.guard import Bucket, size
from covey.studio.settings import Limits
from studio_client import asking


def test_a_bucket_holds_a_burst_and_fills_at_its_rate():
    now = [100.0]
    bucket = Bucket(0.5, 3.0, clock=lambda: now[0])
    assert [bucket.wait() for _ in range(4)] == [0, 0, 0, 2.0]
    now[0] += 1
    assert bucket.wait() == 1.0
    now[0] += 1
    assert bucket.wait() == 0
    now[0] += 1000
    assert [bucket.wait() for _ in range(4)] == [0, 0, 0, 2.0]  # never more than the burst


def test_however_short_the_burst_one_request_is_taken_and_the_next_waits_its_time(tmp_path):
    slow = asking(tmp_path, limits=Limits(reads=0.001, changes=0.001, strangers=0.001, burst_seconds=1))
    assert slow.get("api/state").status_code == 200
    refused = slow.get("api/state")
    assert refused.status_code == 429
    assert 990 <= int(refused.headers["retry-after"]) <= 1000


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KB"), (1536, "1.5 KB"), (2**20, "1 MB"), (3 * 2**29, "1.5 GB")],
)
def test_sizes_in_words(count, words):
    assert size(count) == words

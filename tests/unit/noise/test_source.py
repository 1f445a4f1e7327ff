"""Sources: uniform words, never repeated by accident, repeated on purpose when seeded, and never pickled."""

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from covey.noise import OsSource, SeededSource

WORDS = [np.uint8, np.uint16, np.uint32, np.uint64]
SOURCES = [OsSource, lambda: SeededSource(7)]


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("dtype", WORDS)
def test_words_have_the_asked_type_and_number(make, dtype):
    for count in (0, 1, 1000):
        words = make().words(count, dtype)
        assert words.dtype == dtype
        assert words.shape == (count,)
        assert words.dtype.isnative


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("dtype", WORDS)
def test_every_bit_is_fair(make, dtype):
    bits = np.unpackbits(make().words(1 << 17, dtype).view(np.uint8)).reshape(1 << 17, -1)
    deviation = (bits.mean(axis=0) - 0.5) * 2 * np.sqrt(1 << 17)
    assert np.abs(deviation).max() < 8  # standard deviations


def test_only_the_seeded_source_calls_itself_seeded():
    assert not OsSource().seeded
    assert SeededSource(1).seeded


@pytest.mark.parametrize("make", SOURCES)
def test_a_source_refuses_to_be_pickled_or_copied(make):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(make(), protocol)
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.copy(make())
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.deepcopy({"source": make()})


def test_the_operating_systems_source_has_no_state_to_repeat():
    source = OsSource()
    assert not hasattr(source, "__dict__")
    assert not source.__slots__


def test_the_same_seed_repeats_and_another_does_not():
    def stream(seed):
        source = SeededSource(seed)
        return [source.words(9, dtype).tolist() for dtype in WORDS]

    assert stream(3) == stream(3)
    assert stream(3) != stream(4)
    assert stream(0) != stream(-1)
    assert len({tuple(words) for words in stream(3)}) == len(WORDS)


def test_the_seeded_stream_is_pinned():
    """A seeded result in a document stays reproducible: this may change with the stream's version only."""
    source = SeededSource(2024)
    for request in range(3):
        stream = hashlib.shake_128(f"covey noise 1, seed 2024, request {request}".encode()).digest(12)
        expected = [int.from_bytes(stream[i : i + 4], "little") for i in (0, 4, 8)]
        assert source.words(3, np.uint32).tolist() == expected
    assert SeededSource(2024).words(1, np.uint32).tolist() == [650827079]


@pytest.mark.parametrize("seed", [None, "1", 1.5])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(TypeError):
        SeededSource(seed)


def test_threads_share_a_seeded_source_without_using_a_request_twice():
    alone, shared = SeededSource(5), SeededSource(5)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda _: tuple(shared.words(8, np.uint64)), range(400)))
    assert sorted(together) == sorted(tuple(alone.words(8, np.uint64)) for _ in range(400))


def test_threads_get_different_words_from_the_operating_system():
    source = OsSource()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda _: tuple(source.words(4, np.uint64)), range(400)))
    assert len(set(together)) == 400


FORKS = """
import os
import numpy as np
from covey.noise import OsSource
source = OsSource()
source.words(10, np.uint64)  # whatever a buffer would have kept, the children would now share
for _ in range(2):
    child = os.fork()
    os.write(1, source.words(8, np.uint64).tobytes().hex().encode() + b"\\n")  # one write: lines stay whole
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_and_their_parent_draw_different_words():
    """In a process of its own, because forking a test runner that has threads is not safe."""
    lines = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True).stdout.split()
    assert [len(line) for line in lines] == [128] * 4
    assert len(set(lines)) == 4

"""Sources: uniform words, never repeated by accident, repeated on purpose when seeded, and never pickled."""

import copy
import os
import pickle
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
    assert stream(0) != stream(-0 - 1)
    assert len({tuple(words) for words in stream(3)}) == len(WORDS)


def test_the_seeded_stream_is_pinned():
    """A seeded result in a document stays reproducible: this may change with the stream's version only."""
    assert SeededSource(2024).words(3, np.uint32).tolist() == [3155408806, 2399396989, 1085410417]


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="fork warns when the test runner has threads")
def test_forked_children_and_their_parent_draw_different_words():
    source = OsSource()
    source.words(10, np.uint64)  # whatever a buffer would have kept, the children would now share
    seen = []
    for _ in range(2):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, source.words(8, np.uint64).tobytes())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            seen.append(pipe.read())
        os.waitpid(child, 0)
        seen.append(source.words(8, np.uint64).tobytes())
    assert {len(words) for words in seen} == {64}
    assert len(set(seen)) == 4

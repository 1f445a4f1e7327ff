"""No two workers ever draw the same noise: forks, threads, fresh processes, Spark; and a shared stream is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from covey.noise import OsSource
from covey.noise.laplace import discrete_laplace

WORDS, WORKERS = 20_000, 6
WIDE = Fraction(1, 2**55)  # so wide that equal numbers are equal streams


def repeated(streams: Iterable[bytes]) -> int:
    """How many 64-bit words occur twice, in one stream or in two: by chance, one in 10^9 runs.

    140,000 uniform words: 5·10^-10. 7,000 numbers of scale b = 2^55, of which two are equal once in 4b: 2·10^-10.
    """
    words = np.concatenate([np.frombuffer(stream, dtype=np.uint64) for stream in streams])
    return words.size - np.unique(words).size


def words_of(source: OsSource) -> bytes:
    return source.words(WORDS, np.uint64).tobytes()


def noise_of(source: OsSource) -> bytes:
    return discrete_laplace(WORDS // 20, inverse_scale=WIDE, source=source).tobytes()


def test_threads():
    source = OsSource()
    with ThreadPoolExecutor(WORKERS) as pool:
        streams = list(pool.map(lambda _: words_of(source), range(WORKERS)))
    assert repeated(streams) == 0


# Run in a process of their own, because forking a test runner that has threads is not safe.
FORKED = """
import os, sys
import numpy as np
from fractions import Fraction
from covey.noise import OsSource
from covey.noise.laplace import discrete_laplace
{source}
draw(10)  # whatever a buffer would have kept, the children would now share
for _ in range({workers}):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        with os.fdopen(writer, "wb") as out:
            out.write(draw({count}))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as into:
        sys.stdout.buffer.write(into.read())
    os.wait()
sys.stdout.buffer.write(draw({count}))
"""
SOURCES = {
    "words": "source = OsSource()\ndef draw(n): return source.words(n, np.uint64).tobytes()",
    "noise": "source = OsSource()\n"
    "def draw(n): return discrete_laplace(n, inverse_scale=Fraction(1, 2**55), source=source).tobytes()",
    "numpy": "def draw(n): return np.random.randint(0, 2**62, n).astype(np.uint64).tobytes()",
}


def forked(kind: str, count: int) -> bytes:
    program = FORKED.format(source=SOURCES[kind], workers=WORKERS, count=count)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("kind", "count"), [("words", WORDS), ("noise", 1000)])
def test_forks(kind, count):
    stream = forked(kind, count)
    assert len(stream) == 8 * count * (WORKERS + 1)
    assert repeated([stream]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_generator_that_forks_share_is_noticed():
    assert repeated([forked("numpy", 1000)]) >= 1000 * (WORKERS - 1)


def test_fresh_processes():
    """Started at the same moment, from the same state: what `spawn` does."""
    program = FORKED.split("{source}")[0] + SOURCES["words"] + f"\nsys.stdout.buffer.write(draw({WORDS}))"
    started = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(3)]
    streams = [each.communicate()[0] for each in started]
    assert [len(stream) for stream in streams] == [8 * WORDS] * 3
    assert repeated(streams) == 0


@pytest.mark.slow
def test_spark_workers(spark):
    """Python workers of Spark are forked from one daemon; noise is drawn by the driver, but nothing forbids others."""

    def draw(_: Iterable[int]) -> Iterable[bytes]:  # by value: the worker must not import this module
        import numpy

        from covey.noise import OsSource as Fresh

        yield Fresh().words(5_000, numpy.uint64).tobytes()

    streams = spark.sparkContext.parallelize(range(8), 8).mapPartitions(draw).collect()
    assert len(streams) == 8
    assert repeated(map(bytes, streams)) == 0


def test_noise_within_one_process_does_not_repeat():
    source = OsSource()
    assert repeated([noise_of(source) for _ in range(WORKERS)]) == 0

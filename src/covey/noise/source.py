"""Where noise gets its randomness: the only file of this folder that draws any.

A source hands out uniform machine words; everything else in this folder is arithmetic on them. There are two:
the operating system's generator, for every release that is meant to be private, and a seeded stream, for tests
and teaching. A release made with a seeded source is marked "seeded: not private" in its certificate.
"""

from __future__ import annotations

import hashlib
import operator
import os
import threading
from typing import NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Word = TypeVar("Word", np.uint8, np.uint16, np.uint32, np.uint64)


class Source(Protocol):
    """Independent uniform words. `seeded` says whether somebody else can repeat them."""

    @property
    def seeded(self) -> bool: ...

    def words(self, count: int, dtype: type[Word]) -> NDArray[Word]:
        """`count` independent words, each uniform on all values of the unsigned type `dtype`."""
        ...


class OsSource:
    """The operating system's random generator, read afresh for every request.

    Guarantee: no word is ever handed out twice. There is no state and so no buffer: nothing that a forked
    child, a second thread or a copied virtual machine image of this process could share and repeat. What the
    operating system promises about its own generator is taken on trust.

    Edge cases: pickling and copying are refused, so that a source never travels into a file or another process.
    """

    __slots__ = ()
    seeded = False

    def words(self, count: int, dtype: type[Word]) -> NDArray[Word]:
        """`count` independent uniform words of an unsigned type. The array is read-only."""
        return np.frombuffer(os.urandom(count * np.dtype(dtype).itemsize), dtype=dtype)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a noise source cannot be pickled or copied: make a new one where it is needed")


class SeededSource:
    """A reproducible stream for tests and teaching: whoever knows the seed can take the noise off again.

    Request number i is answered with SHAKE-128(label, seed, i), as long as it needs to be: counter mode, so
    requests share no bytes. The same seed and the same requests in the same order give the same words on every
    platform. Threads may share one: each request takes the next number under a lock, and none is used twice.

    Edge cases: a forked child repeats the stream of its parent; that is what a seed means. Pickling and copying
    are refused all the same, because a file with noise in it helps nobody.
    """

    __slots__ = ("_label", "_lock", "_requests")
    seeded = True

    def __init__(self, seed: int) -> None:
        self._label = f"covey noise 1, seed {operator.index(seed)}, request ".encode()
        self._lock = threading.Lock()
        self._requests = 0

    def words(self, count: int, dtype: type[Word]) -> NDArray[Word]:
        """`count` words of an unsigned type, a function of the seed and of the number of earlier requests."""
        with self._lock:
            request = self._requests
            self._requests += 1
        wide = np.dtype(dtype).newbyteorder("<")  # the same numbers on machines of either byte order
        stream = hashlib.shake_128(self._label + str(request).encode()).digest(count * wide.itemsize)
        return np.frombuffer(stream, dtype=wide).astype(dtype, copy=False)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a noise source cannot be pickled or copied: make a new one where it is needed")


def new_key(source: Source) -> bytes:
    """256 random bits that stand for streams of words which can be drawn again."""
    return source.words(4, np.uint64).astype("<u8").tobytes()


def keyed_words(key: bytes, number: int, count: int, *, purpose: str) -> NDArray[np.uint64]:
    """`count` uniform words: stream `number` of a key and a purpose, the same whenever it is asked for.

    SHAKE-128 of a text that no other purpose or number has.
    """
    label = b"covey stream 2, " + key + number.to_bytes(8, "little") + purpose.encode()
    return np.frombuffer(hashlib.shake_128(label).digest(8 * count), dtype="<u8").astype(np.uint64, copy=False)

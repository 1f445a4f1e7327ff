"""A keyed hash of many short messages at once: SipHash-2-4 (Aumasson, Bernstein 2012), vectorised. Notes: keyed.md.

To whoever does not know the key its values look like independent uniform words, one for each message. So an order of
rows, or a name for a person, that is made with a fresh key depends on coins only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_AT_ONCE = 2**14  # messages whose state stays in the cache


def derived_key(key: bytes, purpose: str) -> bytes:
    """128 bits for one purpose: keys of different purposes have nothing in common, nor with other uses of the key."""
    return hashlib.blake2b(purpose.encode(), key=key, digest_size=16, person=b"covey purpose").digest()


def siphash(key: bytes, words: Sequence[Words]) -> Words:
    """The 64-bit hash of messages of the same number of 64-bit words; words[i][j] is word i of message j."""
    count = len(words[0])
    out = np.empty(count, dtype=np.uint64)
    for start in range(0, count, _AT_ONCE):
        out[start : start + _AT_ONCE] = _hash(key, [each[start : start + _AT_ONCE] for each in words])
    return out


def _hash(key: bytes, words: list[Words]) -> Words:
    halves = np.frombuffer(key, dtype="<u8")
    v = [np.full(len(words[0]), int(halves[i % 2]) ^ _START[i], dtype=np.uint64) for i in range(4)]
    spare = np.empty_like(v[0])
    length = np.full(1, (8 * len(words) & 0xFF) << 56, dtype=np.uint64)
    for word in (*words, length):
        v[3] ^= word
        _rounds(v, 2, spare)
        v[0] ^= word
    v[2] ^= np.uint64(0xFF)
    _rounds(v, 4, spare)
    return np.asarray(v[0] ^ v[1] ^ v[2] ^ v[3])


def _rounds(v: list[Words], count: int, spare: Words) -> None:
    for _ in range(count):
        for a, b, turn, swap in ((0, 1, 13, True), (2, 3, 16, False), (0, 3, 21, False), (2, 1, 17, True)):
            v[a] += v[b]  # modulo 2^64
            _turn(v[b], turn, spare)
            v[b] ^= v[a]
            if swap:
                _turn(v[a], 32, spare)


def _turn(word: Words, bits: int, spare: Words) -> None:
    """Rotate to the left, in place: what a pass writes stays in the cache."""
    np.right_shift(word, np.uint64(64 - bits), out=spare)
    np.left_shift(word, np.uint64(bits), out=word)
    np.bitwise_or(word, spare, out=word)

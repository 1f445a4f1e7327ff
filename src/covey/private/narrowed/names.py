"""What people and rows are called behind the door: keyed hashes, each use with a key of its own. Proof: cap.md.

Names of whole numbers, names of texts, rows, orders, parts and coins never share an input: no id, whatever it says,
is hashed as anything else.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from covey.noise.keyed import Words, derived_key, siphash
from covey.private.lattice import Block
from covey.private.narrowed.pairs import begins

WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"  # a text that says the same as a whole number
FLAG = np.int32(1 << 30)  # a bit that equals the sign in every lattice coordinate: they are below 2^25
TEXT = b"covey text id"  # what is hashed so is an id, and no purpose of a key


@dataclass(frozen=True)
class Names:
    """The keys of one fit: what people and rows are called behind the door."""

    key: bytes = field(repr=False)

    def people(self, ids: Any) -> tuple[Words, Words]:
        """128 bits for each id, of which none is missing. Whole numbers and texts that say the same agree."""
        if not pa.types.is_integer(ids.type):
            known = ids.dictionary_encode()
            low, high = self._texts(known.dictionary)
            place = known.indices.to_numpy(zero_copy_only=False)
            return low[place], high[place]
        numbers = ids.to_numpy(zero_copy_only=False).view(np.uint64)
        first = np.flatnonzero(begins(numbers))  # somebody's rows often stand together
        once = numbers if 2 * len(first) > len(numbers) else numbers[first]
        low, high = (siphash(derived_key(self.key, part), [once]) for part in ("low", "high"))
        if once is not numbers:
            times = np.diff(first, append=len(numbers))
            low, high = np.repeat(low, times), np.repeat(high, times)
        return low, high

    def _texts(self, texts: Any) -> tuple[Words, Words]:
        whole = pc.match_substring_regex(texts, WHOLE)
        told = pc.if_else(whole, texts, pa.scalar(b"0", texts.type)).cast(pa.large_string()).cast(pa.int64())
        places = np.flatnonzero(~whole.to_numpy(zero_copy_only=False))
        others = dict(zip(places.tolist(), texts.take(pa.array(places)).to_pylist(), strict=True))
        numbers = np.array(told)
        for place in [place for place, text in others.items() if _is_long_number(text)]:
            numbers[place] = int(others.pop(place))
        low, high = self.people(pa.array(numbers))
        for place, text in others.items():
            digest = hashlib.blake2b(text, key=self.key, digest_size=16, person=TEXT).digest()
            low[place], high[place] = np.frombuffer(digest, dtype="<u8")
        return low, high

    def rows(self, block: Block) -> Words:
        """64 bits for each lattice row, with the flag whether it was outside."""
        rows = block.rows
        pairs = np.zeros((-(-len(rows) // 2) * 2, rows.shape[1]), dtype=np.int32)
        pairs[: len(rows)] = rows
        pairs[0] ^= block.outside * FLAG
        words = pairs.view(np.uint32).astype(np.uint64)
        return siphash(derived_key(self.key, "row"), list(words[::2] << np.uint64(32) | words[1::2]))

    def ranks(self, low: Words, high: Words, row: Words, copy: Words) -> Words:
        """The order of a person's rows: a random one, the same for the same rows."""
        return siphash(derived_key(self.key, "rank"), [low, high, row, copy])

    def parts(self, row: Words, copy: Words) -> Words:
        """A word for each copy of a row, whoever's it is: which part of a split it is in."""
        return siphash(derived_key(self.key, "part"), [row, copy])

    def coins(self, low: Words, high: Words) -> Words:
        """One word for each person: the coin of their strictest zone."""
        return siphash(derived_key(self.key, "zone"), [low, high])


def _is_long_number(text: bytes) -> bool:
    """Whether a text says the same as a whole number of 64 bits that `WHOLE` is too short for."""
    return re.fullmatch(rb"-?[1-9][0-9]{18}", text) is not None and -(2**63) <= int(text) < 2**63

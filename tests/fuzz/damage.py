"""Damage: strategies that break good files a little, by bytes or by structure, and values nobody would give."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from canary import CANARY, TEXT

TOKENS = [
    *(b'"', b",", b"\n", b"\r\n", b"\r", b"\0", b";", b"=", b":", b"#", b"'", b"\\", b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"nan", b"inf", b"-inf", b"1e400", b"-0", b"0x1p3", b"1_000", b"9" * 400, b"NULL", b"None", b" ", b"\t"),
    *(b"PAR1", b"ARROW1", b"\x1f\x8b", b"SQLite format 3\0", b"{", b"}", b"[" * 300, b"]", b"\xff" * 16, b"\0" * 64),
    *(str(CANARY).encode(), TEXT.encode(), "١٢".encode(), "é".encode("latin-1")),
]
KINDS = ("flip", "insert", "delete", "repeat", "cut", "overwrite", "swap")

# (what is done, where as a share of the length, how far, with which bytes)
Wound = tuple[str, float, int, bytes]
wounds: st.SearchStrategy[list[Wound]] = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)),
        st.integers(1, 40),
        st.one_of(st.sampled_from(TOKENS), st.binary(min_size=1, max_size=12)),
    ),
    min_size=1,
    max_size=4,
)


def wounded(content: bytes, all_wounds: Sequence[Wound]) -> bytes:
    """The file after each wound in turn."""
    for kind, share, length, some in all_wounds:
        at = int(share * len(content))
        head, tail = content[:at], content[at:]
        if kind == "flip" and tail:
            content = head + bytes([tail[0] ^ (1 << length % 8)]) + tail[1:]
        elif kind == "insert":
            content = head + some + tail
        elif kind == "delete":
            content = head + tail[length:]
        elif kind == "repeat":
            content = head + tail[:length] * 3 + tail
        elif kind == "cut":
            content = head
        elif kind == "overwrite":
            content = head + some + tail[len(some) :]
        elif kind == "swap":
            content = head + tail[length : 2 * length] + tail[:length] + tail[2 * length :]
    return content


numbers = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.sampled_from([2**31, 2**63, 2**64, -(2**63), 10**400, 0, -1]),
    st.floats(),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, CANARY]),
)
texts = st.one_of(st.text(max_size=12), st.sampled_from(["", TEXT, "x", "lon", "k-means", "\ud800", "a" * 5000, "\0"]))
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=6,
)

# (the way down as shares, what is done, with what)
Change = tuple[list[float], str, Any]
changes: st.SearchStrategy[list[Change]] = st.lists(
    st.tuples(
        st.lists(st.floats(0, 0.999), min_size=1, max_size=6),
        st.sampled_from(["replace", "remove", "repeat", "wrap", "deepen"]),
        values,
    ),
    min_size=1,
    max_size=3,
)


def changed(document: Any, all_changes: Sequence[Change]) -> Any:
    """A copy of a document with something in its depths replaced, removed, repeated or wrapped."""
    document = copy.deepcopy(document)
    for way, kind, value in all_changes:
        holder, key = None, None
        here = document
        for share in way:
            if not isinstance(here, dict | list) or not here:
                break
            holder, key = (
                here,
                (list(here)[int(share * len(here))] if isinstance(here, dict) else int(share * len(here))),
            )
            here = holder[key]
        if holder is None:
            document = value
        elif kind == "remove":
            del holder[key]
        elif kind == "repeat" and isinstance(holder, list):
            holder.insert(key, here)
        elif kind == "wrap":
            holder[key] = [here]
        elif kind == "deepen":
            for _ in range(1500):
                here = [here]
            holder[key] = here
        else:
            holder[key] = value
    return document

"""A tiny file of map tiles, PMTiles version 3: one vector tile of the whole world with one polygon of water."""

from __future__ import annotations

import gzip
import json
import struct


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(tag: int, content: bytes | int) -> bytes:
    """A field of protocol buffers: a number, or bytes with their length."""
    if isinstance(content, int):
        return varint(tag << 3) + varint(content)
    return varint(tag << 3 | 2) + varint(len(content)) + content


def water_tile() -> bytes:
    """The northern half of the tile as a polygon of the layer `water`."""
    zigzag = [0, 0, 8192, 0, 0, 4096, -8192, 0]  # move to the corner, then three steps, each a difference
    steps = [9, *zigzag[:2], 26, *zigzag[2:], 15]  # 1 move, 3 lines, close
    moved = [step if i in (0, 3, 10) else (step << 1) ^ (step >> 31) for i, step in enumerate(steps)]
    shape = b"".join(varint(step) for step in moved)
    feature = field(3, 3) + field(4, shape)
    return field(3, field(15, 2) + field(1, b"water") + field(2, feature) + field(5, 8192))


def pmtiles() -> bytes:
    """The file: a header of 127 bytes, a directory with one entry, the metadata, the tile."""
    tile = water_tile()
    root = varint(1) + varint(0) + varint(1) + varint(len(tile)) + varint(1)  # entries, id, run, length, offset + 1
    metadata = json.dumps({"vector_layers": [{"id": "water", "fields": {}}]}).encode()
    root, metadata = gzip.compress(root, mtime=0), gzip.compress(metadata, mtime=0)
    ends = (127, len(root), 127 + len(root), len(metadata), 0, 0, 127 + len(root) + len(metadata), len(tile))
    header = b"PMTiles\x03" + struct.pack("<8Q3Q", *ends, 1, 1, 1)
    world = (-1_800_000_000, -850_000_000, 1_800_000_000, 850_000_000)
    header += struct.pack("<6B4iB2i", 1, 2, 1, 1, 0, 0, *world, 0, 0, 0)
    return header + root + metadata + tile

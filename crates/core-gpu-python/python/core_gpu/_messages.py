"""Values between processes: small parts in the message, the bytes of arrays in shared memory.

A value is pickled with its buffers apart (PEP 574); these are copied to one file in memory, which the
other side maps. Nothing is copied on the reading side: arrays lie in the mapping and can be written.
"""

from __future__ import annotations

import mmap
import pickle
from collections.abc import Callable
from typing import Any

from ._arena import Segment

# The folder in which a pool and its workers leave files for each other.
FOLDER = "CORE_GPU_SHARED"
# What array libraries want at the least.
_ALIGNMENT = 64

# What stands for a value in a message: its file's name, the lengths of its buffers, and its pickle.
Parts = tuple["str | None", "list[int]", bytes]


def _aligned(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def write(value: object, lend: Callable[[int], Segment]) -> tuple[Parts, Segment | None]:
    """What stands for a value, and the file that its buffers were copied to, if there are any."""
    buffers: list[pickle.PickleBuffer] = []
    body = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    lengths = [part.nbytes for part in raw]
    total = sum(map(_aligned, lengths))
    if not total:
        return (None, lengths, body), None
    segment = lend(total)
    view, start = segment.view(), 0
    for part in raw:
        view[start : start + part.nbytes] = part
        start += _aligned(part.nbytes)
    return (segment.name, lengths, body), segment


def read(parts: Parts, segment: Segment | None) -> tuple[Any, mmap.mmap | None]:
    """The value, and the mapping that its arrays lie in, which lives as long as any of them does."""
    _, lengths, body = parts
    buffers = [memoryview(bytearray(0))] * len(lengths)
    mapping = None
    if segment is not None:
        mapping = segment.read()
        whole, start = memoryview(mapping), 0
        for place, length in enumerate(lengths):
            buffers[place] = whole[start : start + length]
            start += _aligned(length)
    return pickle.loads(body, buffers=buffers), mapping

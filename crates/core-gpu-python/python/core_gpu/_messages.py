"""Values between processes: small parts in the message, the bytes of arrays in shared memory.

A value is pickled with its buffers apart (PEP 574); these are written to one file in memory, which the
other side maps. Nothing is copied on the reading side: arrays lie in the mapping and can be written.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from typing import Any

# The folder in which a pool and its workers leave files for each other.
FOLDER = "CORE_GPU_SHARED"
# What array libraries want at the least.
_ALIGNMENT = 64
# All pages at once, where the system can: a fault for each costs more than the copy.
_FLAGS = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)


def make_folder() -> str:
    """A folder in memory, where the system has one, that nobody else can read."""
    memory = "/dev/shm"
    usable = os.path.isdir(memory) and os.access(memory, os.W_OK)
    return tempfile.mkdtemp(prefix="core-gpu-", dir=memory if usable else None)


def _aligned(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _write_at(descriptor: int, part: memoryview, start: int) -> None:
    while part.nbytes:
        written = os.pwrite(descriptor, part, start)
        part, start = part[written:], start + written


def write(value: object, folder: str) -> tuple[bytes, str | None]:
    """The message of a value, and the path of the file beside it, if there is one."""
    buffers: list[pickle.PickleBuffer] = []
    body = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    lengths = [part.nbytes for part in parts]
    total = sum(map(_aligned, lengths))
    path = None
    if total:
        descriptor, path = tempfile.mkstemp(dir=folder)
        try:
            os.ftruncate(descriptor, total)
            start = 0
            for part in parts:
                # Not through a mapping: each of its new pages would be a fault.
                _write_at(descriptor, part, start)
                start += _aligned(part.nbytes)
        finally:
            os.close(descriptor)
    name = os.path.basename(path) if path else None
    return pickle.dumps((name, lengths, body), protocol=5), path


def read(message: bytes, folder: str) -> tuple[Any, str | None]:
    """The value of a message, and the path of the file that it came with, which is not removed."""
    name, lengths, body = pickle.loads(message)
    path = os.path.join(folder, name) if name else None
    buffers = [memoryview(bytearray(0))] * len(lengths)
    if path:
        with open(path, "r+b") as file:
            whole = memoryview(mmap.mmap(file.fileno(), 0, flags=_FLAGS))
        start = 0
        for place, length in enumerate(lengths):
            buffers[place] = whole[start : start + length]
            start += _aligned(length)
    return pickle.loads(body, buffers=buffers), path


def remove(path: str | None) -> None:
    """Removes a file that both sides are done with. Who has mapped it keeps its memory."""
    if path:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass

"""The worker's side of a pool: `python -m core_gpu.worker MODULE` runs the tasks of a module.

A task is a function that `task` decorates; its name is how the pool asks for it.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import pickle
import socket
import struct
import sys
import traceback
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from . import _arena, _messages

PROTOCOL = 1
TASKS: dict[str, Callable[..., Any]] = {}

_Task = TypeVar("_Task", bound=Callable[..., Any])


def task(function: _Task) -> _Task:
    """Makes a function a task of this process, by its name."""
    TASKS[function.__name__] = function
    return function


class _Connection:
    def __init__(self) -> None:
        # The pool's socket is descriptor 0. Tasks get an empty input instead of it.
        self._socket = socket.socket(fileno=os.dup(0))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def _read(self, count: int) -> bytearray:
        data = bytearray(count)
        rest = memoryview(data)
        while rest:
            length = self._socket.recv_into(rest)
            if not length:
                raise EOFError
            rest = rest[length:]
        return data

    def receive(self) -> tuple[bytes, bytearray]:
        length, letter = struct.unpack("<Ic", self._read(5))
        return letter, self._read(length - 1)

    def send(self, letter: bytes, body: bytes) -> None:
        self._socket.sendall(struct.pack("<Ic", len(body) + 1, letter) + body)


class _Answer:
    """What a task gives back, where it is put, and whether it has kept what it was given."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._offered = _arena.Mappings()

    def of(self, function: Callable[..., Any], message: bytes) -> bytes:
        """Runs the task of a message."""
        parts, offer = pickle.loads(message)
        result, given = self._call(function, parts)

        def lend(length: int) -> _arena.Segment:
            if offer is not None and offer[1] >= length:
                return self._offered.of(os.path.join(self._folder, offer[0]))
            whole = _arena.rounded(length)
            return _arena.Segment(_arena.make(self._folder, whole), whole)

        told, _ = _messages.write(result, lend)
        del result
        kept = given is not None and given() is not None
        return pickle.dumps((told, kept), protocol=5)

    def _call(
        self, function: Callable[..., Any], parts: _messages.Parts
    ) -> tuple[Any, weakref.ref[mmap.mmap] | None]:
        segment = None
        if parts[0] is not None:
            path = os.path.join(self._folder, parts[0])
            # A task that works in place and dies is run again on what it was given.
            segment = _arena.Segment(path, os.stat(path).st_size, private=True)
        arguments, mapping = _messages.read(parts, segment)
        return function(*arguments), None if mapping is None else weakref.ref(mapping)


def _run(body: bytearray, answer: _Answer) -> tuple[bytes, bytes]:
    number, length = bytes(body[:8]), struct.unpack_from("<H", body, 8)[0]
    function = TASKS.get(body[10 : 10 + length].decode())
    if function is None:
        return b"E", number + b"u"
    try:
        return b"R", number + answer.of(function, bytes(body[10 + length :]))
    except Exception:
        return b"E", number + b"f" + traceback.format_exc().encode(errors="replace")


def main(module: str) -> None:
    """Runs the tasks of a module until the pool ends."""
    # Tasks are registered with this module under its own name, also where it was started as a program.
    importlib.import_module(module)
    answer = _Answer(os.environ[_messages.FOLDER])
    connection = _Connection()
    connection.receive()
    greeting = {"protocol": PROTOCOL, "build": "", "process": os.getpid()}
    connection.send(b"H", json.dumps(greeting).encode())
    try:
        while True:
            letter, body = connection.receive()
            if letter == b"T":
                connection.send(*_run(body, answer))
    except EOFError:
        pass


if __name__ == "__main__":
    from core_gpu import worker

    worker.main(*sys.argv[1:])

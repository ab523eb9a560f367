"""Capsules for tensors that are laid out by the runtime.

A capsule is named `dltensor` until a consumer takes it and gives it another name. One that goes
unused drops its tensor; a used one leaves that to the consumer.
"""

from __future__ import annotations

import ctypes
from typing import Any

from . import _core_gpu

_PLAIN = b"dltensor"
_VERSIONED = b"dltensor_versioned"

_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# The object is about to go: it is passed on as an address, which counts no reference.
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype = ctypes.c_int
_is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


# The defaults keep what it needs, also while the interpreter ends.
def _forget(
    capsule: int,
    names: tuple[bytes, ...] = (_PLAIN, _VERSIONED),
    is_valid: Any = _is_valid,
    pointer: Any = _pointer,
    withdraw: Any = _core_gpu._dlpack_withdraw,
) -> None:
    for name in names:
        if is_valid(capsule, name):
            withdraw(pointer(capsule, name))


# Kept, since a capsule holds its address alone.
_callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_forget)
_FORGET = ctypes.cast(_callback, ctypes.c_void_p)


def capsule(buffer: _core_gpu.Buffer, versioned: bool) -> Any:
    """A capsule of a buffer's tensor, for the consumer that asked."""
    address = buffer._dlpack_export(versioned)
    return _new(address, _VERSIONED if versioned else _PLAIN, _FORGET)

"""Capsules for tensors that are laid out by the runtime.

A capsule is named `dltensor` until a consumer takes it and gives it another name. One that goes
unused drops its tensor; a used one leaves that to the consumer.
"""

import ctypes

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
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _forget(
    capsule,
    names=(_PLAIN, _VERSIONED),
    is_valid=_is_valid,
    pointer=_pointer,
    withdraw=_core_gpu._dlpack_withdraw,
):
    for name in names:
        if is_valid(capsule, name):
            withdraw(pointer(capsule, name))


_FORGET = ctypes.cast(_forget, ctypes.c_void_p)


def capsule(buffer, versioned):
    """A capsule of a buffer's tensor, for the consumer that asked."""
    address = buffer._dlpack_export(versioned)
    return _new(address, _VERSIONED if versioned else _PLAIN, _FORGET)

import importlib

_LAZY = {"load": "other.readers", "Table": "other.table"}


def __getattr__(name):
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(name)


def all_of(function):
    return [getattr(importlib.import_module(module), function) for module in _LAZY.values()]

import importlib

_LAZY = {"Fast": "q._impl"}


def __getattr__(name):
    return getattr(importlib.import_module(_LAZY[name]), name)

import importlib

_LAZY = {"read_csv": "datakit.readers", "read_json": "datakit.readers", "Table": "datakit.table"}


def __getattr__(name):
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(name)

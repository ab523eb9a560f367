from importlib import import_module

_MODULES = {"Item": "item"}


def __getattr__(name):
    if name in _MODULES:
        path = f".{_MODULES[name]}"
        return getattr(import_module(path, __name__), name)
    raise AttributeError(name)

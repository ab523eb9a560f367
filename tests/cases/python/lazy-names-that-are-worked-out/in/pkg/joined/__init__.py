from importlib import import_module

__all__ = ["Item"]


def __getattr__(name):
    if name in __all__:
        return getattr(import_module("pkg.joined.{}".format(name.lower())), name)
    raise AttributeError(name)

from importlib import import_module

from pkg.case import snake

__all__ = ["Item", "Rule"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(name)
    path = f"._{snake(name)}"
    module = import_module(path, package="pkg.widgets")
    return getattr(module, name)

"""Loads what draws when somebody asks for it."""
import importlib
import inspect
import sys

from pkg.core.mesh import Mesh


def __getattr__(name):
    def keep(found):
        globals()[name] = found
        return found

    allowed = {"examples", "extra"}
    if name in allowed:
        return keep(importlib.import_module(f"pkg.{name}"))
    if "pkg.plots" not in sys.modules:
        import pkg.plots
    try:
        found = inspect.getattr_static(sys.modules["pkg.plots"], name)
    except AttributeError:
        raise AttributeError(f"module 'pkg' has no attribute '{name}'") from None
    return keep(found)

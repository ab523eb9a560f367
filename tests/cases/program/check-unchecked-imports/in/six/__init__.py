"""Modules that are no files, each by its name."""
import sys
import types

sys.modules["six.moves"] = types.SimpleNamespace()
sys.modules["six.old"] = types.ModuleType("six.old")


def __getattr__(name):
    if name in ("__path__", "__file__"):
        raise AttributeError(name)
    return 1

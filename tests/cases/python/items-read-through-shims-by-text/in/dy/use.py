import importlib
import sys


def relative():
    return importlib.import_module(".old", __package__).X


def listed():
    return __import__("dy.old", fromlist=["f"]).X


def held():
    module = sys.modules["dy.old"]
    return module.X, module.f()


def first():
    return __import__("dy.old").old.f(), importlib.import_module(".old", "dy").f()

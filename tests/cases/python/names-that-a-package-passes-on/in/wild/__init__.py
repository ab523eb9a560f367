import importlib


def __getattr__(name):
    for place in ("a", "b"):
        found = importlib.import_module(f"wild.{place}")
        if hasattr(found, name):
            return getattr(found, name)
    return importlib.import_module(f"wild.{name}")

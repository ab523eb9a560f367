import importlib


def limits(name):
    return getattr(importlib.import_module(f"shop.plain.{name}"), "LIMITS")

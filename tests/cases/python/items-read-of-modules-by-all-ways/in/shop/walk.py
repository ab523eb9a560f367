import inspect
from importlib import import_module


def listed(name):
    return inspect.getmembers(import_module(f"shop.listed.{name}"))

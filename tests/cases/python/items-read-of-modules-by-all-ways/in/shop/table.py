from importlib import import_module


def tabled(name):
    found = import_module(f"shop.tabled.{name}")
    return vars(found).get("LIMITS")

import inspect
import pkgutil
import runpy
from importlib import import_module


def dotted(name):
    return import_module(f"shop.dotted.{name}").LIMITS


def run(name):
    return runpy.run_module(f"shop.run.{name}")["LIMITS"]


def code(name):
    found = {}
    exec(f"from shop.code.{name} import LIMITS", found)
    return found["LIMITS"]


def resolved(name):
    return pkgutil.resolve_name(f"shop.resolved.{name}:LIMITS")

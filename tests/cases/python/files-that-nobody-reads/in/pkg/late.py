import importlib

SPEC = {"module": "pkg.a", "function": "f"}
CODE = """
from pkg import a
r = a.f()
"""


def go():
    exec(CODE, {})
    return getattr(importlib.import_module(SPEC["module"]), SPEC["function"])()

import importlib


def lazy(ns, **aliases):
    def get(name):
        return getattr(importlib.import_module(aliases[name], ns["__name__"]), name)

    ns["__getattr__"] = get

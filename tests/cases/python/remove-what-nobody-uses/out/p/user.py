import importlib

from p.named import f


def load(name):
    return f(), importlib.import_module("p.plug." + name)

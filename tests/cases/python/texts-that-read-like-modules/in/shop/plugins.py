from importlib import import_module


def start(name):
    module, _, item = name.rpartition(".")
    return getattr(import_module(module), item)()

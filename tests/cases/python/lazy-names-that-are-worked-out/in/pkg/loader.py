from importlib import import_module


def load(kind):
    path = f"._{kind}"
    return import_module(path, package="pkg.kinds")

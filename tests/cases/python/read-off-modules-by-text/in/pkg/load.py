from importlib import import_module

from pkg.ask import limit


def needs(path):
    module = import_module(path)
    if module.is_there():
        return module.NEEDS, limit(module)
    return None

import importlib


def redirect(package, module, name):
    return getattr(importlib.import_module(".".join(["shop.joined", module])), name)

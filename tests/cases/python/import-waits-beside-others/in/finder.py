import importlib


def find():
    return importlib.import_module("pkg.ui.named").kernel(1)

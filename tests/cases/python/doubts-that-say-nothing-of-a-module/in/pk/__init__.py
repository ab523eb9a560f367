import sys


def __getattr__(name):
    if name in ("style", "testing"):
        import importlib
        value = importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(name)
    setattr(sys.modules[__name__], name, value)
    return value

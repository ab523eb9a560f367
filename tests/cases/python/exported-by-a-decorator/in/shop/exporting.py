import sys


def exported(function):
    vars(sys.modules[function.__module__]).setdefault("__all__", []).append(function.__name__)
    return function

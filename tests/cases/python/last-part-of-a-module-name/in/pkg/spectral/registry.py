METHODS = {}


def library(method):
    last = method.__module__.rsplit(".", 1)[-1]
    return METHODS.get(last, last)

from pkg.star import _logger

builtin_open = open


def open(name):
    return builtin_open(name)

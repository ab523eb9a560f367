"""More."""

from pkg.made import EPS


def read(name):
    return EPS

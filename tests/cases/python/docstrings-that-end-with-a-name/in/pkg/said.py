"""Utility methods for pkg."""

from pkg.old import LIMIT


def check(value):
    if value > LIMIT:
        raise ValueError("too much")

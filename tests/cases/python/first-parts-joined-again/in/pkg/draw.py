"""Loads classes of two places, and one that a package of ours is to become."""

from pkg.marks import Mark


def load(found):
    if ".".join(found.__module__.split(".")[:2]) not in [
        "matplotlib.collections",
        "pkg.outer",
        "other.deep",
    ]:
        raise ValueError(found)
    return found()


def mark():
    return load(Mark)

"""Came with a merge."""
import pkg.gpu
from pkg.gpu import count


def late():
    return pkg.gpu.count() + count()

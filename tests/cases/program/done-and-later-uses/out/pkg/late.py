"""Came with a merge."""
import pkg.core.gpu
from pkg.core.gpu import count


def late():
    return pkg.core.gpu.count() + count()

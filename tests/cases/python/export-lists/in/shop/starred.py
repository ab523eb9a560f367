from . import rest
from .rest import *

__all__ = [*rest.__all__, "f"]


def f():
    return 1


def g():
    return 2

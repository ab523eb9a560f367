"""Core."""
from p.words import fuse


def size(x):
    return len(fuse(x))

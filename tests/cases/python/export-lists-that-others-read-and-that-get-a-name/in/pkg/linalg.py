__all__ = ["solve"]


def solve():
    return 1

import sys

__all__ = ["g"]
if sys.platform:
    pass


def g():
    return 2

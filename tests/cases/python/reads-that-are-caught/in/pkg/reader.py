try:
    from pkg.base import late
except ImportError:
    late = None
from pkg.other import plain

TWO = plain(1)


def read(value):
    return late(value) if late else value

__all__ = ["h"]


def h():
    return 2


def backend():
    return h

__all__ = []


def g():
    return 2

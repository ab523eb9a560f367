__all__ = ["three"]


def three():
    return 3

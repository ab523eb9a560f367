__all__ = ["flip"]


def flip(x):
    return -x

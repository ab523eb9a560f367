__all__ = ["fmt"]


def fmt(x):
    return x

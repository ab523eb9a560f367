"""The pool of the first version."""


def round_up(size, step=256):
    """The next multiple of a step."""
    if size <= 0:
        raise ValueError("a size is positive")
    return (size + step - 1) // step * step

class PoolError(Exception):
    pass


def take(count):
    """Takes.

    >>> take(5)
    Traceback (most recent call last):
        ...
    pkg.errors.PoolError: 5

    `pkg.errors.PoolError` is meant.
    """
    raise PoolError(count)

"""What a device is in."""

from pkg import limits, sizes, sizes as pkg_sizes


def check(count):
    if count > limits.LIMIT:
        raise Lost(sizes.depth())
    return count


def pick(sizes):
    return sizes or pkg_sizes.depth()


class Lost(Exception):
    """Gone."""

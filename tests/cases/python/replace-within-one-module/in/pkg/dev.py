"""Devices."""

import math

__all__ = ["MAX", "OldDevice", "old_size", "size"]

LIMIT = 3
MAX = 3


def size(count: int) -> int:
    return count * LIMIT


def old_size(count: int) -> int:
    return count * MAX


class Device:
    """A device."""

    number = 0


class OldDevice:
    """A device."""

    number = 0


def total(counts):
    return math.fsum(old_size(count) for count in counts), OldDevice()

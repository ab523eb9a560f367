"""Devices."""
import os

__all__ = ["LIMIT", "Pool", "pick_device"]
LIMIT = 3


class Pool:
    def __init__(self, size=LIMIT):
        self.size = size


def pick_device(number=0):
    return min(number, LIMIT)


def default():
    return Pool(pick_device(os.getpid()))


def select_device():
    return LIMIT

"""Devices."""
import os

__all__ = ["LIMIT", "DevicePool", "select_device"]
LIMIT = 3


class DevicePool:
    def __init__(self, size=LIMIT):
        self.size = size


def select_device(number=0):
    return min(number, LIMIT)


def default():
    return DevicePool(select_device(os.getpid()))

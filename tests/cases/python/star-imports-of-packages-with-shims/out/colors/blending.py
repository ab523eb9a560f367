"""Blends."""


def mix(a, b):
    return a + b

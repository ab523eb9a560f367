"""Colours."""
__all__ = ["parse", "mix"]


def parse(text):
    return text


def mix(a, b):
    return a + b

"""Utilities of torch."""


def is_tensor(value):
    return hasattr(value, "device") and hasattr(value, "dtype")

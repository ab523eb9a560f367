"""Prices."""
import warnings

LIMIT = 3


def price(count):
    return count * 2


def discount(count):
    warnings.warn("discounts end", DeprecationWarning, stacklevel=2)
    return price(count) - 1


def half(count):
    return count // 2

"""Quiet."""
from shop.old import discount


def calm(count):
    return discount(count)


def silent(count):
    return discount(count) + 1

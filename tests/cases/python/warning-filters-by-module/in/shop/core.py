"""Core."""


def total(counts):
    return sum(counts)

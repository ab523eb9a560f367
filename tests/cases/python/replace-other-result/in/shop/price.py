from contextlib import contextmanager

import numpy


def both(values):
    return values, values


def named(values) -> numpy.generic:
    return numpy.float32(values)


def waited(values) -> int:
    return len(values)


def same(values) -> int:
    total = 0
    for value in values:
        total += 1
    return total


def listed(values):
    return []


def unknown(values):
    return sorted(values)[-1]


def nobody(values) -> str:
    return ""


@contextmanager
def decorated(values) -> int:
    yield 2


def pair(values):
    return values, values, values


LIMIT = 4
WHERE = 5

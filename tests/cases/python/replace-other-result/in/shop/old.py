import numpy as np


def both(values):
    return [values, values]


def named(values) -> np.ndarray:
    return np.array(values)


async def waited(values) -> int:
    return len(values)


def same(values) -> int:
    return len(values)


def listed(values):
    return [value for value in values]


def unknown(values):
    return max(values)


def nobody(values) -> int:
    return 1


def decorated(values) -> int:
    return 1


def pair(values):
    return values, values


LIMIT = 3
WHERE = "here"

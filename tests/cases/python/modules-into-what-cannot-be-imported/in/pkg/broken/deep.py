from pkg.free import free
from pkg.broken import LATE

TWO = LATE + free()


def deep():
    return TWO

from effects.base import register


def g(x) -> register('b'):
    return x

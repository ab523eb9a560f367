from effects.base import register


def g(x=register('a')):
    return x

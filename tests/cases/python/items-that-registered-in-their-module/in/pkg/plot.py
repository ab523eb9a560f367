from pkg.base import Field


def draw(value):
    return Field, value

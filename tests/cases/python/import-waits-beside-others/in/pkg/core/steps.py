"""Needs its tool at once."""


def tool(value):
    return value


TABLE = [tool(1)]


def base(value):
    return value

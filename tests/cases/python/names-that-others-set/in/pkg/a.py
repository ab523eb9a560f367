from pkg.tools import helper

LIMIT = 3


def f():
    return LIMIT


def k():
    return helper()


def go():
    return f() + helper()

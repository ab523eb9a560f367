"""Module c."""


def g_c(x):
    return x + 2


def stays_c(x):
    return x * 3

"""Module d."""


def g_d(x):
    return x + 2


def stays_d(x):
    return x * 3

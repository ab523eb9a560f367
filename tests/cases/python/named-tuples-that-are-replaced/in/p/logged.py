"""Logged."""
from p.settings import Own

FIRST = Own()
SECOND = FIRST._replace(x=1)


def second():
    return SECOND

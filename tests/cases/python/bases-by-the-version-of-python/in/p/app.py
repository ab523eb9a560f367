from p.s import moved
from p.t import moved as other


def go():
    return moved(), other()

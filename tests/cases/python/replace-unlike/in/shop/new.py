def order(y, x):
    return x - y


def default(x, eps=2):
    return x + eps


def handed(x):
    return x


def starred(x, *, z=1):
    return x


def deco(*, n=1):
    return lambda fn: fn


def stream(n):
    return [i for i in range(n)]


def opened(n):
    yield n


class Box:
    def n(self):
        return 1


class Shape:
    def one(self):
        return 1


class Error(Exception):
    pass


class Base:
    def run(self):
        return self._hook()

    def _hook(self):
        return 0

    def hook(self):
        return 3


def renamed(value):
    return value + 1

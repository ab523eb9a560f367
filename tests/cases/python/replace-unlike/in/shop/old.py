import contextlib


def order(x, y):
    return x - y


def default(x, eps=1):
    return x + eps


def handed(x, y=1):
    return x


def starred(x, y=1):
    return x


def deco(fn):
    return fn


def stream(n):
    for i in range(n):
        yield i


@contextlib.contextmanager
def opened(n):
    yield n


class Box:
    @property
    def n(self):
        return 1


class Shape:
    def one(self):
        return 1

    def two(self):
        return 2


class Error(ValueError):
    pass


class Base:
    def run(self):
        return self.hook()

    def hook(self):
        return 0


def renamed(x):
    return x + 1

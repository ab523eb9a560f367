import functools

from shop.old import Base, Box, Error, Shape, default, deco, handed, opened, order, renamed, starred, stream


class Sub(Base):
    def hook(self):
        return 9


@deco
def decorated():
    return order(5, 1), default(1), renamed(3), default(1, eps=4)


def passed():
    return functools.partial(handed, y=3), next(stream(3))


def spread(args):
    return starred(*args)


def made() -> Shape:
    return Shape()


def use():
    with opened(3) as x:
        pass
    try:
        raise Error("x")
    except ValueError:
        return made().two() + Box().n

from pkg._old.values import KINDS, LIMIT, Kept, double


def where(cls):
    return [each.__module__.split(".") for each in cls.mro()]


def parts(cls: type[Kept]):
    return cls.__module__.rsplit(".")


def use():
    return where(Kept), parts(Kept), LIMIT, KINDS, double(1)

from pkg._old.values import Point, double


def where(cls):
    return [each.__module__.split(".") for each in cls.mro()]


def parts(function):
    return function.__module__.rsplit(".")


def use():
    return where(Point), parts(double)

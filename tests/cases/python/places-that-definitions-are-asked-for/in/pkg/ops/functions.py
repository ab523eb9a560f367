from pkg.base import home, stem


def first():
    return 1


def second():
    return 2


FOUND = stem(first), home(second)

from pkg.tools import size


def sizes():
    return size(1)

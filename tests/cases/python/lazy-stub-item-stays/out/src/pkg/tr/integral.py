from pkg.util import area as area


def other():
    return 2

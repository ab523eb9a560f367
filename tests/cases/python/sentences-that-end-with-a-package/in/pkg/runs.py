from pkg._core import A

PREFIX = "Run it by python -m pkg."
OTHER = "run pkg."


def command(name):
    return "See also pkg." + name, PREFIX, OTHER, A

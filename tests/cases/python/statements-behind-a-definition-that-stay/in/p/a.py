"""A."""
TABLE = {}


def first():
    return 1


print(first())
first.order = 1


def second():
    return 2


def _second():
    return 3


second.helper = second.other = _second


class Third:
    pass


for name in ("x", "y"):
    setattr(Third, name, name)
    Third.names = name


def fourth():
    return 4


@fourth.__class__
def fifth():
    return 5


def use():
    return fifth()


class Sixth:
    pass


del Sixth.__doc__


def seventh():
    return 7


TABLE["seventh"] = seventh
seventh.table, seventh.rows = TABLE, 1

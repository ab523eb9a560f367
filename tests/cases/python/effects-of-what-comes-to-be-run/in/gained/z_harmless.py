from gained.base import N, REGISTRY, Registry, register

TABLE = []
TABLE.append("mine")
CHOICES = {}
OWN = Registry()


def keep(function):
    CHOICES[function.__name__] = function
    return function


@keep
def first():
    return register("first")


def fill(table, *names):
    for name in names:
        table.append(name)
    return table


fill(TABLE, "a", "b")
SIZE = len(TABLE) + N

from made.base import FIELD, QUIET, Table, quiet, register

TABLE = [1, 2]
TAKEN = TABLE.pop()
SIZE = len(TABLE)


def with_default(x=register("a")):
    return x


def annotated(x) -> register("b"):
    return x


class Held:
    field = FIELD


Entry = Table("entry")


def plain(x=quiet("a")) -> quiet("b"):
    return x


class Plain:
    field = 1
    other = quiet("c")

LIMIT = 3

KINDS = frozenset({"a", "b"})


def double(x):
    return 2 * x


class Kept:
    pass

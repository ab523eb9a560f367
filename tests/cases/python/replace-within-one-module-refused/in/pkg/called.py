def old() -> int:
    return 1


def one() -> int:
    return old()


ONE = one()


def new() -> int:
    return 1

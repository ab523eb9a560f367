def new() -> int:
    return 1


def old() -> int:
    return 1


def one(new: int) -> int:
    return old() + new

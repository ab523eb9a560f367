def old() -> int:
    return 1


TABLE = {"one": old}


def new() -> int:
    return 1

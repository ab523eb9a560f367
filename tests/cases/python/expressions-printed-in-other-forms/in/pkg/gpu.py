LIMIT = 3
WIDTH = 4
DEPTH = 5


def show():
    return f"{DEPTH=}"


def tell():
    return f"{DEPTH=}"


def limit():
    return f"{LIMIT = !r}"


def width():
    return f"{WIDTH = :>10}"

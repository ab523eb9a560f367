LIMIT = 2
OTHER = 3


def shown():
    return f"{LIMIT=}, {LIMIT}, {OTHER:>3}, {OTHER == 3}"

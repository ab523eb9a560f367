BASE = [1, 2]
SIZE = len(BASE)


def stays():
    return BASE

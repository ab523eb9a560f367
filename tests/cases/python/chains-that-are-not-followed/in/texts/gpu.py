def count():
    return 2


def name():
    return "g"

def accent():
    return "é"


def g():
    return 1

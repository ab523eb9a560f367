class Result:
    pass


def other():
    return 1


def rest():
    return 2

def pick():
    return 2


def other():
    return 3

def k():
    return 1


def own():
    return 2

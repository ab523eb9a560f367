USE = 2


def of_b():
    return USE

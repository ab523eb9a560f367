USE = 1


def of_a():
    return USE

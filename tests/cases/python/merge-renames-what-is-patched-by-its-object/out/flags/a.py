USE = 1


def of_a():
    return USE

B_USE = 2


def of_b():
    return B_USE

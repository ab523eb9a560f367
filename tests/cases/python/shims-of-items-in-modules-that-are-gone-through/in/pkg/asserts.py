def close():
    return 1


def spare():
    return 2

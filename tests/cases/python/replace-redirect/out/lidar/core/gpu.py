def manager():
    return 1


def require():
    return True

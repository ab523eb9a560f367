NEEDS = {"slow": ()}


def is_there():
    return False

NEEDS = {"fast": ("numpy",)}
LIMIT = 3


def is_there():
    return True

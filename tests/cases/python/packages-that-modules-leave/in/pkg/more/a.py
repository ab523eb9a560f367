from .inner import own

ASKED = own


def k():
    return 4

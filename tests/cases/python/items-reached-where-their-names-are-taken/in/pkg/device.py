from pkg import limits


def check(LIMIT):
    return LIMIT < limits.LIMIT

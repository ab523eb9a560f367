def negated(x):
    return -x

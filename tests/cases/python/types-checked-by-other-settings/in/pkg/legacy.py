def old(a):
    return a

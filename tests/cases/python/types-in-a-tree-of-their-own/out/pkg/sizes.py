def rest(n):
    return n

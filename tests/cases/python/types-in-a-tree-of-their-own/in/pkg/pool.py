def take(n):
    return n

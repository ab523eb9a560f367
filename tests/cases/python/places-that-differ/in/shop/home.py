def z():
    return 0

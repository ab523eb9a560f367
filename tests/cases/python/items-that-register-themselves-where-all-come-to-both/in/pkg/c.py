def lone():
    return 1

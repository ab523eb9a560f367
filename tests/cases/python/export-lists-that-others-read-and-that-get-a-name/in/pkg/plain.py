def plain():
    return 1

def depth():
    return 4

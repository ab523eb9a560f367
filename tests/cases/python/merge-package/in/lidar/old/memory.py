class Arena:
    size = 1

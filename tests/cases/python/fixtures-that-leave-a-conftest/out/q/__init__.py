class Pool:
    size = 1

class Pool:
    pass



class Pool:
    pass

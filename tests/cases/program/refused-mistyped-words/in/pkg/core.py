class Buffer:
    pass


def allocate():
    return Buffer()

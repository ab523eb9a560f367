class Buffer:
    pass


def allocate():
    return Buffer()


def release_all():
    pass

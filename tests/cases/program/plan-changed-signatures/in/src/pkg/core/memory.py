def acquire(
    size,
    *,
    align=1,
):
    return bytearray(size + align - 1)


def release(block):
    del block


class Pool:
    def __init__(self, limit=0):
        self.limit = limit

"""The pool of the first version."""


class Pool:
    """Hands out blocks."""

    def __init__(self, limit):
        self.limit = limit
        self.free = {}
        self.used = 0

    def take(self, size):
        blocks = self.free.get(size)
        if blocks:
            return blocks.pop()
        if self.used + size > self.limit:
            raise MemoryError(f"no room for {size} bytes")
        self.used += size
        return bytearray(size)

    def give(self, block):
        self.free.setdefault(len(block), []).append(block)


def round_up(size, step=256):
    """The next multiple of a step."""
    if size <= 0:
        raise ValueError("a size is positive")
    return (size + step - 1) // step * step

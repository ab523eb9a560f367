import os

LIMIT = int(os.environ.get("BOXES", "8"))


class Crate:
    """Holds."""

    def __init__(self, size):
        self.size = size


def count(boxes):
    return len(boxes)

def scale(values: list, factor: int = 2) -> int:
    total: int = 0
    for value in values:
        total += value * factor
    return total


class Box:
    def __init__(self, size: int = 1) -> None:
        self.size = size

    def grow(self, by: int) -> int:
        return self.size + by

def scale(values, factor=2):
    total = 0
    for value in values:
        total += value * factor
    return total


class Box:
    def __init__(self, size=1):
        self.size = size

    def grow(self, by):
        return self.size + by

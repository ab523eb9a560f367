SCALE = 2


class Unit:
    def __init__(self):
        self.scale = SCALE


def scaled(size):
    return size * SCALE

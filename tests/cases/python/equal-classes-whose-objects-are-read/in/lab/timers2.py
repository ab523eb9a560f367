class Timer:
    def __init__(self):
        self.laps = []


class Sort:
    A = object()

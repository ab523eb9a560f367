from pkg import Failure


class Axis:
    def __init__(self, name):
        if not name:
            raise Failure(name)
        self.name = name

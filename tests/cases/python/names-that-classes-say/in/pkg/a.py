import enum


class Color(enum.Enum):
    RED = 1


class Circle:
    def kind(self):
        return type(self).__name__.lower()


class Square:
    pass


def other():
    return 1

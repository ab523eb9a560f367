import sys

COUNT = 0


def count():
    global COUNT
    COUNT += 1


if sys.platform == "win32":
    def either(): ...
else:
    def either(): ...


def where():
    return __file__


def area(width, height):
    return width * height

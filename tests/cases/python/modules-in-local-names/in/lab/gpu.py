LIMIT = -8


def unit():
    return 1


def dispatch():
    return unit()


class Device:
    def __reduce__(self):
        return (Device, ())


NAMES = {"LIMIT": LIMIT}

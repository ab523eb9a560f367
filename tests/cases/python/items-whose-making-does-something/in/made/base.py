SEEN = []


def register(name):
    SEEN.append(name)
    return name


def quiet(name):
    return name.upper()


class Descriptor:
    def __set_name__(self, owner, name):
        SEEN.append(name)


class Quiet:
    def __set_name__(self, owner, name):
        self.name = name


class Table:
    def __init__(self, name):
        SEEN.append(name)


FIELD = Descriptor()
QUIET = Quiet()

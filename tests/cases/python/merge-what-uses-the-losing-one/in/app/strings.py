TIMEOUT = 5


class Base:
    def save(self):
        return "strings"


class User(Base):
    pass


def normalize(text):
    return text.strip().lower()


def same(a, b):
    return normalize(a) == normalize(b)


def wait():
    return TIMEOUT


def unused():
    return 1

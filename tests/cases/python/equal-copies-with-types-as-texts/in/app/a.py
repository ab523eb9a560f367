from .model import Model


class User(Model):
    id: int


def plain():
    return 1

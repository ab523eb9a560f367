import os


def flag(name):
    return bool(os.environ.get(name))

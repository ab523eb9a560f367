import os


def shell():
    return os.environ.get("SHELL")

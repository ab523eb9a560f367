import os

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATES = os.path.join(HERE, "templates")


def place(name):
    return os.path.join(TEMPLATES, name)

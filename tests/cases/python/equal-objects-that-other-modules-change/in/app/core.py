from .kit import Group, make_base

HEADERS = {"a": 1}
PLUGINS = []
UNTOUCHED = ["a"]
cli = Group()
Base = make_base()
DEBUG = False


class Client:
    timeout = 1


def plugins():
    return list(PLUGINS)


def view():
    return 1


view.title = "B"

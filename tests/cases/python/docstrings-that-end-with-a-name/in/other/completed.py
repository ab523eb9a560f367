import sys

from other.old import LIMIT


def find(name):
    return sys.modules["other." + name], LIMIT


def run(name):
    exec("import other." + name)

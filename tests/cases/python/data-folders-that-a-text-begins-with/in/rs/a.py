import os
import pkgutil

HERE = os.path.dirname(__file__)


def raw(name):
    return pkgutil.get_data("rs", "data/" + name)


def whole():
    return pkgutil.get_data("rs", "data/kernel.cu")


def joined(name):
    return os.path.join(HERE, "data/" + name)


def said(name):
    print("data/" + name)

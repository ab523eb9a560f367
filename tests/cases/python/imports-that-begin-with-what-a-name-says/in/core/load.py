from importlib import import_module

import named
from core.names import TAKEN

OWN = "own"
GIVEN = "given"


def own(name):
    return import_module(f"{OWN}.{name}")


def taken(name):
    return import_module(TAKEN + "." + name)


def called(name):
    return import_module("{}.{}".format(named.__name__, name))


def given(name):
    return import_module("." + name, GIVEN)


def preset(name, start="preset."):
    return import_module(start + name)

from .x import *


def here():
    return 1

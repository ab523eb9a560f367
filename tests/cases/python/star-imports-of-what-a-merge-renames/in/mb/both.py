from .a import *
from .b import repeat


def go():
    return bench(), REPEAT, repeat()

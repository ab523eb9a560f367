from .b import *
from .b import REPEAT_A as REPEAT
from .b import repeat


def go():
    return bench(), REPEAT, repeat()

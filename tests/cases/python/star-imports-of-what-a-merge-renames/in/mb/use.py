from mb.a import *
from mb.old import *


def go():
    return bench(), REPEAT, LIMIT

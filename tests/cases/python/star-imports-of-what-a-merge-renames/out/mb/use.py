from mb.b import *
from mb.b import REPEAT_A as REPEAT
from mb.new import *
from mb.new import LARGEST as LIMIT


def go():
    return bench(), REPEAT, LIMIT

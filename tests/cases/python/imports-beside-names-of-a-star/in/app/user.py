from .old import run
from .x import *


def use():
    return run()

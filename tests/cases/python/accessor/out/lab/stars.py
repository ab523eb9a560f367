from lab.shared import *


def has_cupy():
    return AVAILABLE

from sh.b import *


def run():
    return sorted([2, ONE])

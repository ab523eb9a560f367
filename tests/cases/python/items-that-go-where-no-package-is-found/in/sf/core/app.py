from sf.core.io import read


def go():
    return read()

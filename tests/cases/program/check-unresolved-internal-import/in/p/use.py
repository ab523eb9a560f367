import numpy.gone
from p.a import anything  # made at run time
from p.gone import Pool


def late():
    from p import nothing

    return nothing

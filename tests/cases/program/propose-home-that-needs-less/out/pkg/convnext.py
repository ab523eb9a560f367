import numpy
from pkg.blocks import checkpoint


def convnext(x):
    return checkpoint(numpy.abs, x)

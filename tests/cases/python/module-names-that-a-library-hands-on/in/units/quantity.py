import numpy as np

from units.old import Moved
from units.wraps import wrap, wrap_any


class Quantity:
    def __array_function__(self, func, types, args, kwargs):
        return wrap("function", func, args)

    def __array_ufunc__(self, ufunc, method, *inputs):
        return wrap("ufunc", ufunc, inputs)

    def made(self):
        return wrap_any("class", Moved, ())


def ones():
    return wrap("function", np.ones, (3,))

"""What is compiled imports nothing."""
from pkg.compiler import njit

from pkg.ui.draw import kernel


@njit
def fast(value):
    return kernel(value)

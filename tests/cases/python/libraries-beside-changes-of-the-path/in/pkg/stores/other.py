import numba

from pkg import use

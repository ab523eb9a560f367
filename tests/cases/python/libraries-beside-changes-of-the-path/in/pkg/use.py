import numba
import redis

from pkg.numba import B

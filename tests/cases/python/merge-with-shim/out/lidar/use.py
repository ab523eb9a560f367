import lidar.core.gpu
from lidar.core import gpu as helpers
from lidar.core.gpu import HAS_CUPY, UPPER_LIMIT, Pool, detect, spread


def run(values):
    pool = Pool()
    taken = pool.take(2)
    size = lidar.core.gpu.UPPER_LIMIT == UPPER_LIMIT
    return spread(values), list(helpers.batches(3, 2)), taken, detect(), HAS_CUPY, size

import lidar.core.gpu
from lidar.core import gpu as helpers
from lidar.core.gpu import HAS_CUPY, LIMIT, Pool, detect, spread


def run(values):
    pool = Pool()
    taken = pool.take(2)
    size = lidar.core.gpu.LIMIT == LIMIT
    return spread(values), list(helpers.batches(3, 2)), taken, detect(), HAS_CUPY, size

import lidar.gpu_utils
from lidar import gpu_utils as helpers
from lidar.gpu_utils import HAS_CUPY, LIMIT, Pool, detect, spread


def run(values):
    pool = Pool()
    taken = pool.take(2)
    size = lidar.gpu_utils.LIMIT == LIMIT
    return spread(values), list(helpers.batches(3, 2)), taken, detect(), HAS_CUPY, size

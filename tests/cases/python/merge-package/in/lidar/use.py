from lidar.old import VERSION
from lidar.old.kernels import scale
from lidar.old.memory import Arena
from lidar.old.kernels import arena
from lidar.old.memory import Arena as Same


def run():
    return scale([1]), arena().size, Arena is Same, VERSION

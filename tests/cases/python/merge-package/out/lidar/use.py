from lidar.new import VERSION
from lidar.new.kernels import scale
from lidar.new.memory import Arena
from lidar.new.kernels import arena
from lidar.new.memory import Arena as Same


def run():
    return scale([1]), arena().size, Arena is Same, VERSION

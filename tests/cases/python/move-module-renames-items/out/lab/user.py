from lab.core import gpu
from lab.core.gpu import LIMIT, DevicePool, select_device


def both():
    return select_device(LIMIT) + gpu.select_device() + DevicePool().size + gpu.DevicePool().size

from lab.core import gpu as old
from lab.core.gpu import LIMIT, DevicePool as Pool, select_device as pick_device


def both():
    return pick_device(LIMIT) + old.select_device() + Pool().size + old.DevicePool().size

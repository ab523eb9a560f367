from lidar.core.gpu import manager as get_manager, require
from .core import gpu
import lidar.core.gpu


def f():
    return get_manager(), gpu.manager(), require(), lidar.core.gpu.manager

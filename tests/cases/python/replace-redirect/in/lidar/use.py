from lidar.old.gpu import get_manager, require
from .old import gpu
import lidar.stub


def f():
    return get_manager(), gpu.get_manager(), require(), lidar.stub.manager

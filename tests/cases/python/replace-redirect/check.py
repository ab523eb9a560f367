import warnings

warnings.simplefilter("error")
from lidar import use
from lidar.core.gpu import manager

assert use.f() == (1, 1, True, manager)

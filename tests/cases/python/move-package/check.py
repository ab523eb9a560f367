import lidar
from lidar.core.gpu.pool import Pool

assert Pool.size == 7 and lidar.pool.Pool is Pool and lidar.leaf() == (7, "sibling")

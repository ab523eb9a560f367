import warnings

from lidar.core import gpu
from lidar.use import run

assert run([1.0, 2.0, 3.0])[0] == 1.0
assert gpu.LIMIT == 1_000_000 and gpu.UPPER_LIMIT == 10_000_000
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import lidar.gpu_utils

    assert lidar.gpu_utils.LIMIT == 10_000_000
    assert lidar.gpu_utils.Pool is gpu.Pool
assert caught

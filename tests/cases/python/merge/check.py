from lidar.core import gpu
from lidar.lazy import pool
from lidar.use import run

spread, batches, taken, there, cupy, same = run([1.0, 2.0, 3.0])
assert spread == 2 / 3
assert batches == [(0, 2), (2, 3)]
assert same and gpu.LIMIT == 1_000_000
assert list(gpu.batches(6000))[1] == (5120, 6000)
assert "batches" in gpu.__all__ and "Pool" in gpu.__all__
assert pool().on_device is gpu.HAS_CUPY

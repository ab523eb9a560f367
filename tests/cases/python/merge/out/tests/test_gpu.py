from unittest import mock

from lidar.lazy import pool
from lidar.use import run


def test_run():
    with mock.patch("lidar.core.gpu.HAS_CUPY", False):
        assert pool().take(1) == [0]
    assert run([1, 2, 3])[1] == [(0, 2), (2, 3)]

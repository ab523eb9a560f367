from unittest import mock

from lidar.optimization import gpu
from lidar.optimization.gpu import gpu_available


def test_no_device_is_no_error():
    with mock.patch("lidar.optimization.gpu.gpu_available", return_value=False):
        assert not gpu.gpu_available()
    assert gpu_available() in (True, False)

from unittest import mock


def test_patched():
    with mock.patch("lidar.core.kernels.run", return_value=[]) as run:
        from lidar import users

        assert users.lidar.core.kernels.run is run

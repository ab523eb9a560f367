from lidar.core import kernels  # noqa: F401  # coalesce: shim attribute 0001-kernels



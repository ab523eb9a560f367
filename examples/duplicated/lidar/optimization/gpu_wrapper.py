"""Deprecated: use `lidar.core.gpu`."""
import warnings

from lidar.core.gpu import get_manager, require_gpu

warnings.warn("lidar.optimization.gpu_wrapper is deprecated", DeprecationWarning, stacklevel=2)

__all__ = ["get_manager", "require_gpu"]

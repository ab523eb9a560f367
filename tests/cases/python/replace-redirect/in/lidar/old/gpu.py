"""Deprecated."""
import warnings

from lidar.core.gpu import manager as get_manager, require

warnings.warn("use lidar.core.gpu", DeprecationWarning, stacklevel=2)

"""Every way to name a module."""
import lidar.core.kernels
import lidar.core.kernels as k
from lidar.optimization import common  # both, one of them moves
from lidar.core import kernels
from lidar.core.kernels import (
    FLAG,  # kept
    run as go,
)


def late():
    from .core.kernels import run

    kernels_of_another = "optimization.kernels"
    return run, lidar.core.kernels.run, kernels_of_another


try:
    from lidar.core.kernels import run as maybe
except ImportError:
    maybe = None

"""Every way to name a module."""
import lidar.optimization.kernels
import lidar.optimization.kernels as k
from lidar.optimization import common, kernels  # both, one of them moves
from lidar.optimization.kernels import (
    FLAG,  # kept
    run as go,
)


def late():
    from .optimization.kernels import run

    kernels_of_another = "optimization.kernels"
    return run, lidar.optimization.kernels.run, kernels_of_another


try:
    from lidar.optimization.kernels import run as maybe
except ImportError:
    maybe = None

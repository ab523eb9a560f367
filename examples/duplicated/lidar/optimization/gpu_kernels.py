"""Normals and curvature, on the GPU where there is one."""
from ..core.gpu import get_manager


def normals(points, neighbours=16):
    """A unit vector for each point."""
    if get_manager().available:
        import cupy as array
    else:
        import numpy as array
    points = array.asarray(points)
    centred = points - points.mean(axis=0)
    _, _, axes = array.linalg.svd(centred[:neighbours], full_matrices=False)
    return array.repeat(axes[-1:], len(points), axis=0)

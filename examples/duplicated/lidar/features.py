"""Features of points."""
from lidar.optimization.gpu_kernels import normals
from lidar.optimization.gpu_wrapper import require_gpu

try:
    from lidar.optimization.gpu_async import stream_pool
except ImportError:
    stream_pool = None


def features(points, on_gpu=False):
    """Normals, overlapped with the transfer where streams are there."""
    if on_gpu:
        require_gpu()
    if stream_pool is not None:
        return stream_pool.run(normals, points)
    return normals(points)

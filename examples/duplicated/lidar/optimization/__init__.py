"""Fast paths."""
from .gpu_kernels import normals

__all__ = ["normals"]

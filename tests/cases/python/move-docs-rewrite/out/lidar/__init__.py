from .core.kernels import run

__all__ = ["run"]

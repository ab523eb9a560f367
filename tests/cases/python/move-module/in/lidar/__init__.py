from .optimization.kernels import run

__all__ = ["run"]

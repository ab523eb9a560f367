from .kernels import run

__all__ = ["run"]

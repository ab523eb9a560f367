from .kernels import run

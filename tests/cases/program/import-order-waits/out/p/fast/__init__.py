from ..core.kernels import run

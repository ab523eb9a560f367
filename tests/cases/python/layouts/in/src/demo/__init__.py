from demo.legacy.kernels import run

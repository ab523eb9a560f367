from demo.kernels import run

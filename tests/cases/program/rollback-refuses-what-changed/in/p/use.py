from p import kernels, core

from p import kernels, heart

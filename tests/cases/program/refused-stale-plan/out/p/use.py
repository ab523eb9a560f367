from p import kernels, heart as core

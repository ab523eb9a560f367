from p import gpu as kernels, heart as core

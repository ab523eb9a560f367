from p.kernels import X

import p.kernels

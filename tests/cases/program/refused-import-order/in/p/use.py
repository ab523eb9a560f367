import p.fast.kernels

import p.core.kernels

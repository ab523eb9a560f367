import pkg.core.gpu

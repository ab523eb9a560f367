import pkg.gpu

import pkg.core.gpu

def broken(:
    pkg.gpu.count()

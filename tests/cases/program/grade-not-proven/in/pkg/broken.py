import pkg.gpu

def broken(:
    pkg.gpu.count()

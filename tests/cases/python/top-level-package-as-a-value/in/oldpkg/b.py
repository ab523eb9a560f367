import oldpkg
def g(): return oldpkg.__version__

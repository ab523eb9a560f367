import pkg.passes
from pkg import passes as p

print(pkg.passes.runner.gpu.count())


def late():
    return p.runner.gpu.count(), p.runner.gpu.name()

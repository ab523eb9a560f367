import pkg
import pkg.held


def f():
    module = pkg.held
    return module.floor(2.3)

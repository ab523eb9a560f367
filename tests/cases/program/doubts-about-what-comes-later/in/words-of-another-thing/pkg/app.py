from pkg.a import Field, Stay
import pkg.b
import pkg.reg1
import pkg.reg2


def names():
    return sorted(pkg.reg1.KINDS), sorted(pkg.reg2.KINDS)

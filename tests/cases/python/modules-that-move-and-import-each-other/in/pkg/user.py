import pkg.more
import pkg.more.a


def go():
    return pkg.more.a.a()

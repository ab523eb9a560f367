from pkg.base import Kernel


class Add(Kernel):
    pass

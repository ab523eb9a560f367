from pkg.base import Packed


class Data(Packed):
    pass

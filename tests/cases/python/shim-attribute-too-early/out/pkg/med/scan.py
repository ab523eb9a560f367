from pkg import Operator


class Scan(Operator):
    pass

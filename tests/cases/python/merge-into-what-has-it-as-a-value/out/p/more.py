import p.deco
from p import deco as k


class Child(p.deco.Base):
    pass


TABLE = k.hashkey(k.LIMIT)

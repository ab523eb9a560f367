import p.keys
from p import keys as k


class Child(p.keys.Base):
    pass


TABLE = k.hashkey(k.LIMIT)

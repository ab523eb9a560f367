class X:
    pass


class c:
    pass

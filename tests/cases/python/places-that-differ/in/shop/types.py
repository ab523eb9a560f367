class Inner:
    v = 1


class D:
    x: "Inner"


DEFAULT = D()

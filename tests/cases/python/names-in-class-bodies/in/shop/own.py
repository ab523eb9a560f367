def f():
    return 1


class C:
    h = 4
    k = f()

from p.a import f


def g():
    return f

from .old import e, g


def h():
    from .old import f
    return f() + 1


def k(asked):
    if asked:
        from .old import f
    return e() + g()

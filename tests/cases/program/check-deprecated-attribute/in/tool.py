def f():
    from p.core import gpu as renamed
    return renamed

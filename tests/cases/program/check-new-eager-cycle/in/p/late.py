def h():
    from p.late2 import k

    return k

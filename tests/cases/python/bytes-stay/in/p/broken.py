import p.a

def broken(:
    from p.a import X

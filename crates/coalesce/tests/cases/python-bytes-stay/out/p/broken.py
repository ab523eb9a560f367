import p.new.a

def broken(:
    from p.new.a import X

from oldpkg.b import g
def f(): return g()

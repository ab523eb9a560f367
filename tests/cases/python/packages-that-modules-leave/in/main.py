import pkg


def go():
    more = pkg.more
    return pkg.sub.f() + pkg.g() + pkg.a.p() + more.inner.own(), pkg.plain


print(go())

from pkg import a


def call():
    return a.send(), a.quiet()

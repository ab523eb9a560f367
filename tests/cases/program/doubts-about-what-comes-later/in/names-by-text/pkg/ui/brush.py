import builtins

from pkg.ui.draw import kernel


def stroke(value):
    return kernel(value)


def asked(value):
    return builtins.eval("kern" + "el(2)")

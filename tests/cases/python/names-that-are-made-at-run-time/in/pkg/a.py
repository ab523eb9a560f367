for name in ["x", "y"]:
    globals()["get_" + name] = lambda name=name: name

NAMES = {"a": 1}


def f():
    return get_x()


def g():
    return eval("NAMES['a']")

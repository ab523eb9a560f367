from shop import first, second


def both(x):
    return first.named(x), str(second.named(x)) == "Named(x=1)"

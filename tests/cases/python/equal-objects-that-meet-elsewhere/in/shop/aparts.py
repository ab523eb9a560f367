from shop import first, second


def show(mode, default, x):
    if mode == default:
        return None
    kept = first.apart(x)
    given = second.apart(x)
    if kept == first.apart(x + 1):
        return kept
    return given

from p import deco


def later():
    return deco.hashkey(deco.LIMIT)

from p import keys


def later():
    return keys.hashkey(keys.LIMIT)

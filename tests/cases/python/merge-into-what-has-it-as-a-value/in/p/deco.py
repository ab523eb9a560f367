from . import keys


def cached(cache, key=keys.hashkey):
    return key(cache)

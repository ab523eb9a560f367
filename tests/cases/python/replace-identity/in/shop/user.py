from shop.old import MISSING, RATES, get, guarded, lock, put, rate


def go():
    put(1, 2)
    return get(1), guarded(lock.locked), rate("a"), RATES, MISSING

import threading

_cache = {}
lock = threading.Lock()
MISSING = object()
RATES = {"a": 1}


def put(k, v):
    _cache[k] = v


def get(k):
    return _cache.get(k)


def rate(k):
    return RATES[k]


def guarded(call):
    with lock:
        return call()


def given(x=MISSING):
    return x is not MISSING

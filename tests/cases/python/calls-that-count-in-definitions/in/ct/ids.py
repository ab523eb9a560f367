import itertools

_numbers = itertools.count()
_cache = None
MADE = []


def new_id():
    return next(_numbers)


def shared():
    global _cache
    if _cache is None:
        _cache = object()
    return _cache

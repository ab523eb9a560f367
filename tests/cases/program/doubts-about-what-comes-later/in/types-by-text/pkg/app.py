from pkg.a import wait
from pkg.inject import kinds


def found():
    return [getattr(k, "__name__", k + " (text)" if isinstance(k, str) else k) for k in kinds(wait).values()]

try:
    import redis
except ImportError:
    redis = None

from pkg.redis import connect


def cache():
    return connect()

def connect():
    import redis

    return redis

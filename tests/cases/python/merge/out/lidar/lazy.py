def pool():
    from .core.gpu import Pool

    return Pool()

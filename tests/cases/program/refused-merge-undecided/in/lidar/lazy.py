def pool():
    from .gpu_utils import Pool

    return Pool()

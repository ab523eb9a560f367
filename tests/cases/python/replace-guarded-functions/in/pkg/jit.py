try:
    from numba_that_is_not_here import cuda, njit
    HAVE = True
except ImportError:
    HAVE = False
    cuda = None

    def njit(function=None, **options):
        if function is None:
            return lambda inner: inner
        return function

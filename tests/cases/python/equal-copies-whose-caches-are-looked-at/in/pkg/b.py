from functools import lru_cache


@lru_cache(maxsize=None)
def probe(index):
    return "gpu%d" % index


def known():
    return probe.cache_info().currsize

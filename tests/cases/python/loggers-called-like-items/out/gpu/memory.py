"""Memory."""

from gpu.device import log


def alloc(n):
    log.info("alloc %d", n)
    return n

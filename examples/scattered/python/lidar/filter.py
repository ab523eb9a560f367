"""Filters heights: on the GPU if somebody has written that by then."""

from .optimization import gpu_profiler as timing
from .optimization.gpu_memory import GpuArrayCache, get_gpu_memory_pool
from .optimization.gpu_wrapper import gpu_accelerated, gpu_context

TILES = GpuArrayCache(entries=16)


def _on_the_host(heights, limit):
    return [height for height in heights if height > limit]


@gpu_accelerated(fallback=_on_the_host)
def above(heights, limit):
    raise RuntimeError("there is no kernel for it")


def run(heights, limit):
    """What is above a limit, and the bytes that it took."""
    pool = get_gpu_memory_pool()
    with timing.profile_operation("filter"), gpu_context():
        block = pool.take(8 * len(heights))
        high = above(heights, limit)
        TILES.put("last", high)
        pool.give(block)
    return high, len(block)

"""Blocks of memory by size, and arrays by name. There is no other home for it yet."""

import collections
import os


class GpuMemoryPool:
    """Blocks that are kept until somebody says `trim`."""

    def __init__(self):
        self.free = collections.defaultdict(list)

    def take(self, size):
        return self.free[size].pop() if self.free[size] else bytearray(size)

    def give(self, block):
        self.free[len(block)].append(block)

    def trim(self):
        size = sum(length * len(blocks) for length, blocks in self.free.items())
        self.free.clear()
        return size


class GpuArrayCache:
    """Arrays by name, the oldest go first."""

    def __init__(self, entries=16):
        self.entries = entries
        self.arrays = collections.OrderedDict()

    def put(self, name, array):
        self.arrays[name] = array
        while len(self.arrays) > self.entries:
            self.arrays.popitem(last=False)

    def get(self, name):
        return self.arrays.get(name)


_POOL = GpuMemoryPool()


def get_gpu_memory_pool():
    """The pool of this process; on the host where there is no GPU."""
    if not os.path.isdir("/proc/driver/nvidia/gpus"):
        os.environ.setdefault("LIDAR_POOL", "host")
    return _POOL


def cleanup_gpu_memory():
    """Gives back what is not in use; how many bytes."""
    return _POOL.trim()

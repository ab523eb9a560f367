"""Where the time goes."""

import collections
import contextlib
import time


class GpuProfiler:
    """Sums by name, in seconds."""

    def __init__(self):
        self.seconds = collections.defaultdict(float)
        self.count = collections.Counter()

    def add(self, name, seconds):
        self.seconds[name] += seconds
        self.count[name] += 1

    def report(self):
        return {name: (self.count[name], self.seconds[name]) for name in sorted(self.seconds)}


_profiler = GpuProfiler()


def get_profiler():
    return _profiler


@contextlib.contextmanager
def profile_operation(name):
    """Measures its block."""
    start = time.perf_counter()
    try:
        yield
    finally:
        _profiler.add(name, time.perf_counter() - start)

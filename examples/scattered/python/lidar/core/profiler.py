"""Where the time goes: the home."""

import collections
import contextlib
import time


class Profiler:
    """Sums by name, in seconds."""

    def __init__(self):
        self.seconds = collections.defaultdict(float)
        self.count = collections.Counter()

    def add(self, name, seconds):
        self.seconds[name] += seconds
        self.count[name] += 1

    def report(self):
        return {name: (self.count[name], self.seconds[name]) for name in sorted(self.seconds)}


_PROFILER = Profiler()


def profiler():
    """The profiler of this process."""
    return _PROFILER


@contextlib.contextmanager
def profile(name):
    """Measures its block."""
    start = time.perf_counter()
    try:
        yield
    finally:
        _PROFILER.add(name, time.perf_counter() - start)

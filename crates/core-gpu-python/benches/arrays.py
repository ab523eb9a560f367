"""Arrays to a worker process and back: this package beside what Python programs use instead.

    python crates/core-gpu-python/benches/arrays.py [MIB]

One process works on one array at a time, each pool in its turn, five rounds; the median of all is
printed in milliseconds. Ray is measured where it is installed.
"""

import multiprocessing
import statistics
import sys
import time

import numpy
from core_gpu.worker import task
from core_gpu.workers import WorkerPool

ROUNDS = 5
REPEATS = 6


@task
def incremented(array):
    return array + 1


def timed(call, array):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        answer = call(array)
        times.append(1000 * (time.perf_counter() - start))
        assert answer[-1] == array[-1] + 1
    return times


def ray_call():
    try:
        import ray
    except ImportError:
        return None
    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR")
    remote = ray.remote(incremented)
    return lambda array: ray.get(remote.remote(array))


def main():
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    array = numpy.arange(mebibytes * (1 << 20) // 8, dtype="float64")
    with WorkerPool("arrays", workers=1) as pool, multiprocessing.Pool(1) as other:
        calls = {
            "core_gpu": lambda value: pool.submit("incremented", value).result(),
            "multiprocessing": lambda value: other.apply(incremented, (value,)),
            "ray": ray_call(),
            "in this process": incremented,
        }
        times = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                if call:
                    times[name] += timed(call, array)
    for name, found in times.items():
        shown = f"{statistics.median(found):8.1f} ms" if found else "not run: not installed"
        print(f"{mebibytes} MiB there and back, {name:16} {shown}")


if __name__ == "__main__":
    main()

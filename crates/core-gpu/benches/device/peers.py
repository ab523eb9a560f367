"""PyTorch's and CuPy's pools on the trace that the device trial gives to ours: JSON on stdout."""

import json
import time

ROUNDS = 20_000


def numbers(seed):
    mask = (1 << 64) - 1

    def below(limit):
        nonlocal seed
        seed ^= (seed << 13) & mask
        seed ^= seed >> 7
        seed ^= (seed << 17) & mask
        return seed % max(limit, 1)

    return below


def trace(make):
    """Nanoseconds of one operation: as many are dropped as are made."""
    below, live = numbers(5), []
    start = time.perf_counter_ns()
    for _ in range(ROUNDS):
        if len(live) > 100 or (below(2) == 0 and live):
            live[below(len(live))], last = live[-1], live.pop()
            del last
        else:
            kind = below(15)
            live.append(make(1 + below(1 << (6 + kind))))
    return (time.perf_counter_ns() - start) / ROUNDS


def torch_pool():
    import torch

    torch.cuda.init()
    return lambda size: torch.empty(size, dtype=torch.uint8, device="cuda")


def cupy_pool():
    import cupy

    pool = cupy.cuda.MemoryPool()
    return pool.malloc


def nothing(size):
    """What the loop itself costs in this language."""
    return size


def main():
    figures = {"loop_alone_ns": trace(nothing)}
    for name, peer in (("PyTorch", torch_pool), ("CuPy", cupy_pool)):
        try:
            make = peer()
            trace(make)
            figures[name + "_ns"] = trace(make)
        except Exception as error:  # Whatever it is, it is why there is no figure.
            figures[name] = f"not run: {error}"
    print(json.dumps(figures))


main()

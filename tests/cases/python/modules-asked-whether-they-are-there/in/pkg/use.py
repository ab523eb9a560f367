try:
    from pkg import gpu
except ImportError:
    gpu = None


def go(x):
    if gpu is not None:
        return gpu.run(x)
    if gpu == None or not gpu:
        return x
    while gpu:
        gpu.stop()
    return gpu.stop() if gpu else bool(gpu)

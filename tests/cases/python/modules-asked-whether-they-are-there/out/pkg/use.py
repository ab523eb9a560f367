try:
    from pkg import gpu
    from pkg import device
except ImportError:
    gpu = None


def go(x):
    if gpu is not None:
        return device.run(x)
    if gpu == None or not gpu:
        return x
    while gpu:
        gpu.stop()
    return gpu.stop() if gpu else bool(gpu)

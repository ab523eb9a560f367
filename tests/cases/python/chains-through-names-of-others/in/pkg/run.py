from pkg import gpu


def r():
    return gpu.count()

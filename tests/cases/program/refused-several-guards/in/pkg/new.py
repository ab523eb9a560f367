GPU_AVAILABLE = True


def device_count():
    return 1

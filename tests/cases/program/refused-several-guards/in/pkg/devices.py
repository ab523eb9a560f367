try:
    from pkg.old import GPU_AVAILABLE
    from pkg.old import device_count
except ImportError:
    GPU_AVAILABLE = False

    def device_count():
        return 0

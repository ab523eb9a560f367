"""One function, most of which is its `try`."""


def pick_device(index=None):
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
        if index is None:
            index = 0
        if index >= count:
            raise RuntimeError("no such device")
        cupy.cuda.Device(index).use()
        return index
    except ImportError:
        return None

class GpuError(Exception):
    """Of a device."""

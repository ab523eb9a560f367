"""Core."""


def count_devices():
    """Count."""
    return 0


class Device:
    """A device."""

    def name(self):
        return "d"

"""Memory of devices."""


def free_bytes():
    return 0


def used_bytes():
    return 0

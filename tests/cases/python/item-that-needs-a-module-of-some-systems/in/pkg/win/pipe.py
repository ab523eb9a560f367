import fcntl


def lock(handle):
    fcntl.flock(handle, fcntl.LOCK_EX)

try:
    from om.gpu import free
    HAS = True
except ImportError:
    HAS = False

    def free():
        return "nothing"


def release():
    return free(), HAS

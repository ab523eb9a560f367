def send():
    return 1


def wait():
    return 2


def poll():
    return wait()


def quiet():
    return 3


def other():
    return 4

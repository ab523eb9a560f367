class T:
    pass


def wait(x: T) -> T:
    return x

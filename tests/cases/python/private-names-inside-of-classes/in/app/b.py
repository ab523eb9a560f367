def __helper():
    return 1


def use():
    return __helper()

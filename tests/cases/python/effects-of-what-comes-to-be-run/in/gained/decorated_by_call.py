from gained.base import decorator


@decorator('a')
def handler():
    return 1

def run():
    return 1


def helper():
    return "b"

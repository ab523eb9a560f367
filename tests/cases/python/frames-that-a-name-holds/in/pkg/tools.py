class Tool:
    size = 1


def main():
    from pkg.logs import get_logger

    return get_logger("__main__")
